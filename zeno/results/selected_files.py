"""How much of the selected files an answer is about, and which names rules left out."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from contract_models.zeno.left_out import LeftOut
from contract_models.zeno.skipped_file import SkippedFile
from pydantic import MISSING

from zeno.results.hints import why_nothing
from zeno.search.corpus import Corpus, Snapshot
from zeno.search.selection import Candidates, Selection
from zeno.search.sink import MAX_NAMED, Skipped

_REASONS = {"large": "too_large", "unreadable": "unreadable"}
"""Names of reasons in results. A binary file is no gap: it has no lines."""
_RULES = {"hidden": "hidden", "ignored": "ignored", "excluded": "excluded", "linked_dirs": "linked"}
"""Rules that leave names out, and how a text calls these names."""


class SelectedFiles(NamedTuple):
    """The files that a request selects, and those of them that could not be searched."""

    args: Any
    corpus: Corpus
    selection: Selection
    snapshot: Snapshot
    skipped: Skipped
    start: str
    """Where the cursor of the request continues; empty without one."""
    searched: Selection | None = None
    """The selection of those that were searched, where it is narrower."""

    def count_skipped(self) -> dict[str, int]:
        """Return how many could not be searched, by reason."""
        problems = self.selection.problems(self.snapshot.candidates)
        return {
            "binary": self.skipped["binary"],
            "too_large": self.skipped["large"],
            "unreadable": self.skipped["unreadable"] + problems["unreadable"],
            "not_regular": problems["not_regular"],
        }

    def fields(self, truncated_by: list[str]) -> dict[str, Any]:
        """Return members of a result that tells what it is about."""
        candidates = self.snapshot.candidates
        paths = self.snapshot.paths(self.searched or self.selection)
        gaps = [
            *self.selection.name_problems(candidates),
            *((path, _REASONS[reason]) for path, reason in self.skipped.first_paths),
        ]
        hints: list[str] = []
        if not paths and not self.start:
            globs = [] if self.args.paths is MISSING else self.args.paths
            field = "args.paths" if globs else ""
            hints = why_nothing(self.args, field, globs, self.selection, candidates, self.corpus)
        return {
            "truncated": bool(truncated_by),
            "truncated_by": truncated_by or MISSING,
            "complete": bool(paths) and not (truncated_by or self.start or gaps),
            "skipped_files": name_skipped(gaps),
            "files_selected": len(paths),
            "left_out": count_left_out(self.selection, candidates),
            "policy": self.corpus.tree.policy.active or MISSING,
            "files_digest": candidates.paths.digest,
            "hints": hints or MISSING,
        }

    def metrics(self) -> dict[str, int]:
        """Return counters of files that could not be searched."""
        return {
            "files_skipped_binary": self.skipped["binary"],
            "files_skipped_large": self.skipped["large"],
            "files_skipped_unreadable": self.skipped["unreadable"],
        }


def count_left_out(selection: Selection, candidates: Candidates) -> LeftOut:
    """Count the names that the selection asks for and each rule left out."""
    counts = selection.count_left_out(candidates)
    return LeftOut(
        hidden=counts["hidden"],
        ignored=counts["ignored"],
        excluded=counts["excluded"],
        linked_dirs=counts["linked_dirs"] or MISSING,
        directories=counts["directories"],
    )


def name_skipped(gaps: Iterable[tuple[str, str]]) -> list[SkippedFile] | Any:
    """Return the first of the entries that make an answer incomplete, given with their reasons; MISSING for none."""
    first = sorted(gaps)[:MAX_NAMED]
    return [SkippedFile(path=path, reason=reason) for path, reason in first] or MISSING


def in_words(counts: Mapping[str, int]) -> str:
    """Return counts of names as `left out: 12 hidden, 3 ignored (1 directory)`; "" where all are 0."""
    left = [f"{counts[rule]:,} {word}" for rule, word in _RULES.items() if counts.get(rule)]
    if not left:
        return ""
    directories = counts.get("directories", 0)
    of_them = f" ({directories:,} {'directory' if directories == 1 else 'directories'})"
    return f"left out: {', '.join(left)}{of_them if directories else ''}"


def describe_selected(files: int, verb: str) -> str:
    """Return a number of selected files as `5,648 files searched`."""
    return f"{files:,} {'file' if files == 1 else 'files'} {verb}"
