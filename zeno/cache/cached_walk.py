"""Apply a request's rules to the cached listing, with the result that a walk would have."""

import errno
from collections.abc import Callable, Iterable, Iterator
from heapq import merge
from itertools import chain, groupby
from operator import itemgetter

from zeno.cache.link_table import Link
from zeno.cache.listing import Folder, Listing, Other
from zeno.cache.text_store import CachedFile
from zeno.files.rules import NameRules
from zeno.files.walk import NOT_REGULAR, Walked, WalkedNames
from zeno.text.gitignore import EXCLUDE, IGNORE_FILES, REPOSITORY, Ignores

Text = Callable[[CachedFile], bytes]


def walk_cached(listing: Listing, rules: NameRules, text: Text) -> Iterable[WalkedNames]:
    """Return what a walk by these rules would find. `text` returns the text of an ignore file.

    Raises OSError if one cannot be read.
    """
    if rules.leave_all:
        return _in_order(listing.paths, listing.problems)
    files: list[str] = []
    problems: list[str] = []
    left_out: dict[str, list[str]] = {}
    todo = [(listing.root, rules.begin())]
    while todo:
        folder, around = todo.pop()
        base = folder.path + b"/" if folder.path else b""
        ignores = None if around is None else _inside(folder, base, around, text)
        children = folder.children
        without = rules.left_out(((name, child.__class__ is Folder) for name, child in children.items()), base, ignores)
        for name, child in children.items():
            if name in without:
                path = child.prefix if isinstance(child, Folder) else child.path
                left_out.setdefault(without[name], []).append(path)
            elif isinstance(child, CachedFile):
                files.append(child.path)
            elif isinstance(child, Folder):
                todo.append((child, ignores))
            elif isinstance(child, Link) and child.denied:
                continue
            else:
                (files if isinstance(child, Link) and child.listed else problems).append(child.path)
    names = [WalkedNames(paths, rule) for rule, paths in left_out.items()]
    return chain(names, _in_order(sorted(files), sorted(problems)))


def _in_order(files: list[str], problems: list[str]) -> Iterator[WalkedNames]:
    """Yield sorted files, and between them sorted names that lead to no file."""
    if not problems:
        yield WalkedNames(files, None)
        return
    names = merge((Walked(path, None) for path in files), (Walked(path, NOT_REGULAR) for path in problems))
    for problem, some in groupby(names, itemgetter(1)):
        yield WalkedNames([path for path, _ in some], problem)


def _inside(folder: Folder, base: bytes, around: Ignores, text: Text) -> Ignores:
    """Return the rules inside a directory; `base` is its path with a slash at the end."""
    files = {name: child for name in IGNORE_FILES if isinstance(child := folder.children.get(name), CachedFile)}
    repository = folder.children.get(REPOSITORY)
    if not files and repository is None:
        return around
    exclude = None
    info = repository.children.get("info") if isinstance(repository, Folder) else None
    held = info.children.get(EXCLUDE) if isinstance(info, Folder) else None
    if isinstance(held, CachedFile):
        exclude = text(held)
    elif isinstance(held, Folder | Other):
        raise OSError(errno.EINVAL, "an entry with the name of an ignore file is no file")
    texts = {name: text(entry) for name, entry in files.items()}
    return around.enter(base, texts, exclude, is_repository=repository is not None)
