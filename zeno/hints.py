"""Help for the empty-handed: why a selection matches no file, in a sentence or two, each of them true of the tree."""

from collections.abc import Sequence
from typing import Any

from zeno.globs import matcher
from zeno.search.corpus import Corpus
from zeno.search.selection import Candidates, Selection


def why_nothing(
    args: Any, field: str, globs: Sequence[str], selection: Selection, candidates: Candidates, corpus: Corpus
) -> list[str]:
    """Hints on a request that selected nothing by what stands in `field`; `globs` are the globs in it, if any."""
    found = [f"{field} matched 0 of {len(candidates.paths)} files" if field else "the rules leave no file at all"]
    if candidates.cut:
        found.append(f"only the first {args.max_files} files were looked at: raise max_files or go on with the cursor")
    for glob in globs:
        found += _on_glob(glob, field, candidates.paths)
    return found + _on_rules(args, selection, corpus)


def _on_glob(glob: str, field: str, paths: list[str]) -> list[str]:
    """What nearly matched."""
    bare = glob.removeprefix("./").strip("/")
    if bare and any(path.startswith(bare + "/") for path in paths):
        return [f"{bare!r} is a directory: {bare + '/*'!r} matches what is below it"]
    others = list(filter(matcher([glob], field, case_sensitive=False), paths))
    if others:
        return [f"{glob!r} would match {_files(others)} if case did not count, such as {others[0]!r}"]
    if bare and bare != glob and any(map(matcher([bare], field), paths)):
        return [f"paths are relative to the root: {bare!r} matches"]
    return []


def _on_rules(args: Any, selection: Selection, corpus: Corpus) -> list[str]:
    """What matches, but the rules leave it out."""
    rules = {"exclude_dirs": [], "exclude_globs": [], "gitignore": False}
    in_force = [name for name, off in rules.items() if getattr(args, name) != off]
    relaxed = args.model_copy(update={**rules, "include_hidden": True})
    matching = selection.of(corpus.candidates(relaxed))
    hidden = [path for path in matching if not args.include_hidden and f"/{path}".count("/.")]
    left_out = len(matching) - len(hidden)
    found = []
    if hidden:
        found.append(f"{_files(hidden)} that match are hidden, such as {hidden[0]!r}: include_hidden takes them in")
    if left_out and in_force:
        found.append(f"{left_out} files that match were left out by {' or '.join(in_force)}")
    return found


def _files(paths: list[str]) -> str:
    return f"{len(paths)} file{'s' if len(paths) != 1 else ''}"
