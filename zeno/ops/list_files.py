"""list_files: list the files under the root."""

from collections.abc import Sequence

from contract_models.zeno.ops.list_files import ListFilesArgs, ListFilesResult, ListFilesSkipped
from pydantic import MISSING

from zeno.errors import InvalidArgs, ZenoError
from zeno.files.file_tree import FileTree
from zeno.meter import Meter
from zeno.results import cursors
from zeno.results.changed_files import select_changed
from zeno.results.clip import count_fitting
from zeno.results.directory_counts import directory_counts
from zeno.results.hints import on_stars, why_nothing
from zeno.results.selected_files import count_left_out, name_skipped
from zeno.search.corpus import Corpus
from zeno.search.query import require_affordable, states_of
from zeno.search.selection import EVERYTHING, Rules, select_by_glob, select_by_regex
from zeno.text.regex import searcher


def list_files(args: ListFilesArgs, corpus: Corpus, meter: Meter) -> ListFilesResult:
    """Return the candidates that match the glob or the regular expression; with `tree`, counts by directory."""
    _check(args)
    selection = EVERYTHING
    if args.regex is not MISSING:
        selection = select_by_regex(searcher(args.regex, "args.regex"))
    if args.glob is not MISSING:
        selection = select_by_glob(args.glob, "args.glob")
    start = ""
    if args.cursor is not MISSING:
        # No path sorts between this one and the last path of the page before.
        start = cursors.position("list_files", args, args.cursor) + "\0"
    candidates = corpus.snapshot(Rules.of(args, start)).candidates
    if args.regex is not MISSING:
        sizes = (len(path.encode()) for path in candidates.paths)
        states = states_of(args.regex, case_sensitive=True, literal=False)
        require_affordable(states, "args.regex", sizes, meter, "use args.glob")
    meter.files_scanned += len(candidates.paths)
    matching = selection.of(candidates)
    if args.changed_since is not MISSING:
        matching = select_changed(matching, args.changed_since, selection, corpus, meter).of(candidates)
    # All files of a commit have its time.
    by_time = args.sort == "mtime" and corpus.tree.rev is None
    found = _newest_first(matching, corpus.tree, meter) if by_time else matching
    directories = directory_counts(matching, args.depth, corpus, meter) if args.tree else []
    kept, cut_by = _apply_limits([one.path for one in directories] if args.tree else found, args)
    files = [] if args.tree else found[:kept]
    truncated_by = [*cut_by, *(["max_files"] if candidates.cut else [])]
    problems = selection.problems(candidates)
    cursor = None
    if truncated_by and args.sort == "path" and not args.tree:
        cursor = cursors.issue("list_files", args, files[-1] if cut_by else candidates.paths[-1])
    hints = None
    if not matching and not start:
        globs = [] if args.glob is MISSING else [args.glob]
        field = "args.glob" if globs else "" if args.regex is MISSING else "args.regex"
        hints = why_nothing(args, field, globs, selection, candidates, corpus)
    elif args.glob is not MISSING:
        hints = on_stars(args.glob, matching)
    return ListFilesResult(
        files=files,
        tree=directories[:kept] if args.tree else MISSING,
        truncated=bool(truncated_by),
        truncated_by=truncated_by or MISSING,
        cursor=cursor or MISSING,
        complete=bool(matching) and not (truncated_by or problems or start),
        skipped=ListFilesSkipped(unreadable=problems["unreadable"], not_regular=problems["not_regular"]),
        skipped_files=name_skipped(selection.name_problems(candidates)),
        files_selected=len(matching),
        left_out=count_left_out(selection, candidates),
        policy=corpus.tree.policy.active or MISSING,
        files_digest=candidates.paths.digest,
        hints=hints or MISSING,
        metrics=meter.stop(),
    )


def _apply_limits(paths: Sequence[str], args: ListFilesArgs) -> tuple[int, list[str]]:
    """Return how many of the first paths the limits let through, and the limits that left others out."""
    kept = min(len(paths), args.max)
    cut_by = ["max"] if kept < len(paths) else []
    if args.max_chars is not MISSING and (fit := count_fitting(paths[:kept], args.max_chars)) < kept:
        kept, cut_by = fit, ["max_chars"]
    return kept, cut_by


def _check(args: ListFilesArgs) -> None:
    """Refuse arguments that do not go together."""
    if args.tree and args.sort != "path":
        raise InvalidArgs("args.sort must be path where args.tree is true: directories are sorted by path")
    if args.cursor is not MISSING and (args.tree or args.sort != "path"):
        which = "args.tree is true" if args.tree else "args.sort is mtime"
        raise InvalidArgs(f"args.cursor cannot be given where {which}; raise args.max or narrow args.glob instead")


def _newest_first(paths: Sequence[str], tree: FileTree, meter: Meter) -> list[str]:
    """Sort paths by when each file was last modified, the latest first, then by path; unknown times come last."""

    def age(path: str) -> tuple[bool, int]:
        try:
            entry = tree.place(path).entry
        except ZenoError:
            entry = None
        return (True, 0) if entry is None else (False, -entry.mtime_ns)

    return [path for _, path in sorted((age(path), path) for path in meter.check_each(paths))]
