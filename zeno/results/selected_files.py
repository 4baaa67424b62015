"""How much of the selected files an answer is about: the members that searches for code share with grep."""

from typing import Any, NamedTuple

from pydantic import MISSING

from zeno.results.hints import why_nothing
from zeno.results.left_out import count_left_out, name_skipped
from zeno.search.corpus import Corpus, Skipped, Snapshot
from zeno.search.selection import Selection

_REASONS = {"large": "too_large", "unreadable": "unreadable"}


class SelectedFiles(NamedTuple):
    """The files that a request selects, and those of them that could not be searched."""

    args: Any
    corpus: Corpus
    selection: Selection
    snapshot: Snapshot
    skipped: Skipped
    start: str
    """Where the cursor of the request continues; empty without one."""

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
        paths = self.snapshot.paths(self.selection)
        gaps = [
            *self.selection.name_problems(candidates),
            *((path, _REASONS[reason]) for path, reason in self.skipped.named),
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
