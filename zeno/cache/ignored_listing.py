"""Ignore rules over names that are held: what a walk by these rules would meet, without the walk."""

import errno
import os
from collections.abc import Callable

from zeno.cache.listing import Folder, Link, Other
from zeno.cache.text_store import Entry
from zeno.text.gitignore import EXCLUDE, IGNORE_FILES, REPOSITORY, Ignores
from zeno.text.path_names import printed_entry

Text = Callable[[Entry], bytes]


def met(root: Folder, text: Text, *, include_hidden: bool, exclude_dirs: frozenset[str]) -> tuple[list[str], list[str]]:
    """Of what no rule leaves out the files, and the names that are no files and lead to none, each sorted.

    `text` gives what an ignore file says. OSError where one of them cannot be read.
    """
    files: list[str] = []
    problems: list[str] = []
    todo = [(root, Ignores())]
    while todo:
        folder, around = todo.pop()
        base = folder.path + b"/" if folder.path else b""
        ignores = _inside(folder, base, around, text)
        for name, child in folder.children.items():
            if name == REPOSITORY or (name[0] == "." and not include_hidden):
                continue
            if isinstance(child, Folder):
                if printed_entry(name) not in exclude_dirs and not ignores.leave_out(base + os.fsencode(name), True):
                    todo.append((child, ignores))
            elif not ignores.leave_out(base + os.fsencode(name), False):
                is_file = isinstance(child, Entry) or (isinstance(child, Link) and child.listed)
                (files if is_file else problems).append(child.path)
    return sorted(files), sorted(problems)


def _inside(folder: Folder, base: bytes, around: Ignores, text: Text) -> Ignores:
    """The rules inside a directory, whose entries' paths begin with `base`."""
    files = {name: child for name in IGNORE_FILES if isinstance(child := folder.children.get(name), Entry)}
    repository = folder.children.get(REPOSITORY)
    if not files and repository is None:
        return around
    exclude = None
    info = repository.children.get("info") if isinstance(repository, Folder) else None
    held = info.children.get(EXCLUDE) if isinstance(info, Folder) else None
    if isinstance(held, Entry):
        exclude = text(held)
    elif isinstance(held, Folder | Other):
        raise OSError(errno.EINVAL, "no ignore file, where one belongs")
    texts = {name: text(entry) for name, entry in files.items()}
    return around.enter(base, texts, exclude, is_repository=repository is not None)
