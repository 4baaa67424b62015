"""Hints in a result: why a request found nothing, or more than was probably meant."""

import re
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from typing import Any

from zeno.errors import InvalidArgs, InvalidPattern, ZenoError
from zeno.files.file_tree import FileTree
from zeno.files.rules import NameRules
from zeno.results.suggestions import alternatives, similar
from zeno.search.corpus import Corpus
from zeno.search.selection import Candidates, Rules, Selection
from zeno.text.globs import WILDCARD, matcher
from zeno.text.regex import Matches, searcher

# Give hints on this many globs of a request at most.
MAX_GLOBS = 3
# The escape for a line feed: its backslash is not escaped itself.
_ESCAPED_LINE_FEED = re.compile(r"(?<!\\)(?:\\\\)*\\n")
# Typical of regular expressions and rare in other text. RE2, because Python's `re` takes quadratic time on `[[[[`.
_EXPRESSION = r"\.[*+]|\\[wdsbWDSB.(\[]|\[[^\]]+\]|\(\?|[\pL\pN_]\|[\pL\pN_]|^\^|[\pL\pN_]\$$"

_POINTER = re.compile(rb"version https://git-lfs\.github\.com/spec/v1\n(?:[a-z0-9.-]+ [^\n]*\n)*?size (\d+)\n")
# The pointers of Git LFS are shorter.
MAX_POINTER = 1024


def on_pointer(path: str, content: bytes) -> list[str]:
    """Return a hint for a file that only says where its content is, given the file or its beginning."""
    found = _POINTER.match(content) if len(content) < MAX_POINTER else None
    if found is None:
        return []
    return [f"{path!r} is a pointer of Git LFS: the {found[1].decode()} bytes that it stands for are not here"]


def why_nothing(
    args: Any, field: str, globs: Sequence[str], selection: Selection, candidates: Candidates, corpus: Corpus
) -> list[str]:
    """Return hints for a request whose argument `field` selected no file; `globs` are the globs of that argument."""
    found = [f"{field} matched 0 of {len(candidates.paths)} files" if field else "the rules leave no file at all"]
    if candidates.cut:
        found.append(f"max_files ({args.max_files}) ended the scan: raise it, or go on with the cursor")
    for glob in globs[:MAX_GLOBS]:
        # Ignoring case makes a glob larger, perhaps too large for RE2.
        with suppress(InvalidArgs):
            found += (
                _on_glob(glob, field, candidates.paths)
                or _on_links(glob, corpus.tree)
                or _on_similar(glob, candidates.paths)
            )
    return found + _on_rules(args, selection, corpus)


def _on_glob(glob: str, field: str, paths: list[str]) -> list[str]:
    """Return hints on paths that nearly match a glob. In `args.paths` a directory selects everything below it."""
    bare = glob.removeprefix("./").strip("/")
    below = [bare + "/*"] if bare and field == "args.paths" else []
    folder_of = f"{bare}/".lower()
    folders = {path[: len(bare)] for path in paths if path[: len(bare) + 1].lower() == folder_of} if bare else set()
    if folders and not below:
        folder = bare if bare in folders else min(folders)
        return [f"{folder!r} is a directory: {folder + '/*'!r} matches what is below it"]
    others = list(filter(matcher([glob, *below], field, case_sensitive=False), paths))
    if others:
        return [f"{glob!r} would match if case did not count: {others[0]!r}{_more(others)}"]
    if bare and bare != glob and any(map(matcher([bare], field), paths)):
        return [f"paths are relative to the root: {bare!r} matches"]
    anywhere = list(filter(matcher([f"**/{bare}", *(f"**/{one}" for one in below)], field), paths)) if bare else []
    if anywhere:
        return [f"a glob matches the whole path: {f'**/{bare}'!r} matches {anywhere[0]!r}{_more(anywhere)}"]
    return []


def on_pattern(pattern: str, field: str, *, regex: bool, multiline: bool) -> list[str]:
    """Return hints for a pattern that was not found: it looks like a regular expression, or needs several lines."""
    if not multiline and (_has_line_feed(pattern) if regex else "\n" in pattern):
        return [f"a line has no line feed, so {field} cannot match in one: set multiline to true"]
    if regex or not _expression_searcher()(pattern.encode()):
        return []
    try:
        searcher(pattern, field)
    except InvalidPattern:
        return []
    return [f"{field} is taken literally and was not found; it looks like a regular expression: set regex to true"]


@cache
def _expression_searcher() -> Matches:
    """Return the test for `_EXPRESSION`. RE2 takes longer to compile it than a search without a hit takes."""
    return searcher(_EXPRESSION, "")


def _has_line_feed(pattern: str) -> bool:
    """Whether a regular expression has a line feed, or the escape for one outside of classes, where \\n is a member."""
    # A class ends at the last bracket before the next one opens.
    outside = (part.rpartition("]")[2] for part in pattern.split("["))
    return "\n" in pattern or any(map(_ESCAPED_LINE_FEED.search, outside))


def on_stars(glob: str, files: Sequence[str]) -> list[str]:
    """Return a hint for a glob such as `src/*.py` that also matched in directories below."""
    folder, _, name = glob.rpartition("/")
    if not folder or WILDCARD.search(folder) or not re.fullmatch(r"\*[^*?\[\]{}]+", name):
        return []
    deeper = [path for path in files if "/" in path[len(folder) + 1 :]]
    if not deeper:
        return []
    only = f"^{re.escape(folder)}/[^/]*{re.escape(name[1:])}$"
    return [
        f"'*' also matches '/': {len(deeper)} of {len(files)} files are in directories below {folder!r}, such as "
        f"{deeper[0]!r}; for that directory alone use regex {only}"
    ]


def _on_links(glob: str, tree: FileTree) -> list[str]:
    """Return a hint if a path goes through a linked directory, which the walk does not enter."""
    steps = glob.removeprefix("./").strip("/").split("/")
    for length, step in enumerate(steps, 1):
        if step in ("", ".", "..") or WILDCARD.search(step):
            return []
        link = "/".join(steps[:length])
        try:
            place = tree.place(link)
        except ZenoError:
            # Say nothing about links that leave the root.
            return []
        if not place.is_folder:
            return []
        if place.path != link:
            instead = "/".join([*([] if place.path == "." else [place.path]), *steps[length:]]) or "."
            return [f"linked directories are not entered, and {link!r} leads to {place.path!r}: ask for {instead!r}"]
    return []


def _on_similar(glob: str, paths: Sequence[str]) -> list[str]:
    """Return a hint on files or directories that may have been meant by a path without wildcards."""
    if WILDCARD.search(glob):
        return []
    meant = similar(glob, list(paths)) or similar(glob, _directories(paths))
    return [f"nothing is at {glob!r}; did you mean {alternatives(meant)}?"] if meant else []


def _directories(paths: Sequence[str]) -> list[str]:
    """Return the sorted directories of all paths."""
    found: set[str] = set()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return sorted(found)


def _on_rules(args: Any, selection: Selection, corpus: Corpus) -> list[str]:
    """Return hints on files that match but are excluded by rules."""
    rules = {"exclude_dirs": [], "exclude_globs": [], "gitignore": False}
    in_force = [name for name, off in rules.items() if getattr(args, name) != off]
    relaxed = Rules(NameRules(include_hidden=True), max_files=args.max_files)
    matching = selection.of(corpus.snapshot(relaxed).candidates)
    hidden = [path for path in matching if not args.include_hidden and "/." in f"/{path}"]
    known = set(hidden)
    others = [path for path in matching if path not in known]
    found = []
    if hidden:
        found.append(f"hidden files match, but were left out: {hidden[0]!r}{_more(hidden)}; see include_hidden")
    if others and in_force:
        found.append(f"files that match were left out by {' or '.join(in_force)}: {others[0]!r}{_more(others)}")
    return found


def _more(paths: list[str]) -> str:
    return f" and {len(paths) - 1} more" if len(paths) > 1 else ""
