"""Apply a request's rules to the cached listing, with the result that a walk would have."""

import errno
import os
from collections.abc import Callable

from zeno.cache.link_table import Link
from zeno.cache.listing import Folder, Other
from zeno.cache.text_store import CachedFile
from zeno.files.walk import EXCLUDED, HIDDEN, IGNORED, LEFT_OUT, WalkedNames
from zeno.text.gitignore import EXCLUDE, IGNORE_FILES, REPOSITORY, Ignores
from zeno.text.path_names import printed_entry

Text = Callable[[CachedFile], bytes]


def not_ignored(
    root: Folder, text: Text, *, include_hidden: bool, exclude_dirs: frozenset[str]
) -> tuple[list[str], list[str], list[WalkedNames]]:
    """Apply ignore rules. Return files and names that lead to no file, both sorted, and the names left out.

    `text` returns the text of an ignore file. Raises OSError if one cannot be read.
    """
    files: list[str] = []
    problems: list[str] = []
    left_out: dict[str, list[str]] = {rule: [] for rule in LEFT_OUT}
    todo = [(root, Ignores())]
    while todo:
        folder, around = todo.pop()
        base = folder.path + b"/" if folder.path else b""
        ignores = _inside(folder, base, around, text)
        for name, child in folder.children.items():
            is_folder = isinstance(child, Folder)
            if name[0] == "." and not include_hidden:
                rule = HIDDEN
            elif name == REPOSITORY or ignores.leave_out(base + os.fsencode(name), is_folder):
                rule = IGNORED
            elif is_folder and printed_entry(name) in exclude_dirs:
                rule = EXCLUDED
            elif isinstance(child, Folder):
                todo.append((child, ignores))
                continue
            elif isinstance(child, Link) and child.denied:
                continue
            else:
                is_file = isinstance(child, CachedFile) or (isinstance(child, Link) and child.listed)
                (files if is_file else problems).append(child.path)
                continue
            left_out[rule].append(_walked(child))
    return sorted(files), sorted(problems), [WalkedNames(paths, rule) for rule, paths in left_out.items() if paths]


def names_left_out(root: Folder, *, include_hidden: bool, exclude_dirs: frozenset[str]) -> list[WalkedNames]:
    """Return the names that a walk without ignore rules would leave out."""
    hidden: list[str] = []
    excluded: list[str] = []
    todo = [] if include_hidden and not exclude_dirs else [root]
    while todo:
        folder = todo.pop()
        for name, child in folder.children.items():
            if name[0] == "." and not include_hidden:
                hidden.append(_walked(child))
            elif isinstance(child, Folder):
                if exclude_dirs and printed_entry(name) in exclude_dirs:
                    excluded.append(_walked(child))
                else:
                    todo.append(child)
    found = {HIDDEN: hidden, EXCLUDED: excluded}
    return [WalkedNames(paths, rule) for rule, paths in found.items() if paths]


def _walked(child: Folder | CachedFile | Link | Other) -> str:
    """Return a path as the walk yields it."""
    return child.prefix if isinstance(child, Folder) else child.path


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
