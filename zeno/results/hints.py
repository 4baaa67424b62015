"""Help for the empty-handed: why a selection matches no file, in a sentence or two, each of them true of the tree."""

from collections.abc import Sequence
from contextlib import suppress
from stat import S_ISDIR
from typing import Any

from zeno.errors import InvalidArgs, ZenoError
from zeno.files.tree import Tree
from zeno.search.corpus import Corpus
from zeno.search.selection import WILDCARD, Candidates, Selection
from zeno.text.globs import matcher

# Whoever asks for a thousand paths needs no thousand hints.
MAX_GLOBS = 3


def why_nothing(
    args: Any, field: str, globs: Sequence[str], selection: Selection, candidates: Candidates, corpus: Corpus
) -> list[str]:
    """Hints on a request that selected nothing by what stands in `field`; `globs` are the globs in it, if any."""
    found = [f"{field} matched 0 of {len(candidates.paths)} files" if field else "the rules leave no file at all"]
    if candidates.cut:
        found.append(f"max_files ({args.max_files}) ended the scan: raise it, or go on with the cursor")
    for glob in globs[:MAX_GLOBS]:
        # A glob may be as large as RE2 can bear; the same without case is larger.
        with suppress(InvalidArgs):
            found += _on_glob(glob, field, candidates.paths) or _on_links(glob, corpus.tree)
    return found + _on_rules(args, selection, corpus)


def _on_glob(glob: str, field: str, paths: list[str]) -> list[str]:
    """What nearly matched. In `args.paths` a directory stands for all below it."""
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
    return []


def _on_links(glob: str, tree: Tree) -> list[str]:
    """Where a path leads through a linked directory: no list of files has what is below one under that name."""
    steps = glob.removeprefix("./").strip("/").split("/")
    for length, step in enumerate(steps, 1):
        if step in ("", ".", "..") or WILDCARD.search(step):
            return []
        link = "/".join(steps[:length])
        try:
            place = tree.place(link)
        except ZenoError:
            # Where a link leads out of the root, nothing is told of it.
            return []
        if place.status is None or not S_ISDIR(place.status.st_mode):
            return []
        if place.path != link:
            instead = "/".join([*([] if place.path == "." else [place.path]), *steps[length:]]) or "."
            return [f"linked directories are not entered, and {link!r} leads to {place.path!r}: ask for {instead!r}"]
    return []


def _on_rules(args: Any, selection: Selection, corpus: Corpus) -> list[str]:
    """What matches, but the rules leave it out."""
    rules = {"exclude_dirs": [], "exclude_globs": [], "gitignore": False}
    in_force = [name for name, off in rules.items() if getattr(args, name) != off]
    relaxed = args.model_copy(update={**rules, "include_hidden": True})
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
