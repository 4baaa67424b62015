"""replay: run every request of a trace again and compare the answers.

Digests leave metrics out. The digest of a `stat` answer covers modification times, so a difference there may be one
of times only: it has a verdict of its own, `times`.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

from contract_models.zeno.ops.find_references import FindReferencesResult
from contract_models.zeno.ops.find_symbols import FindSymbolsResult
from contract_models.zeno.ops.grep import GrepResult
from contract_models.zeno.ops.list_files import ListFilesResult
from contract_models.zeno.ops.search import SearchResult
from contract_models.zeno.request import Request
from contract_spec.model import Model
from contract_spec.operations import operations
from pydantic import MISSING

from zeno.errors import ResponseTooLarge, ZenoError
from zeno.files.file_tree import FileTree
from zeno.meter import Meter
from zeno.options import Options
from zeno.search.corpus import Corpus
from zeno.session import dispatch, wire
from zeno.trace.deliveries import Shown, Span, find_shown
from zeno.trace.digest import canonical, digest
from zeno.trace.events import OTHER, Exchange
from zeno.trace.suspects import Suspects
from zeno.trace.writer import count_items

# Errors that depend on the session and not on the request: run again, the request may succeed.
_OF_THE_SESSION = frozenset(
    {"trace_failed", "internal", "budget_exhausted", "deadline_exceeded", "cancelled"} | {"pattern_too_costly"}
)

_SEARCHES = (FindReferencesResult, FindSymbolsResult, GrepResult, ListFilesResult)
# Skipped files that leave an answer complete.
_TOLD = ("binary", "unparsed", "unsupported")

ReplayVerdict = Literal["same", "differs", "times", "not_run"]


class Again(NamedTuple):
    """The answer that a request gets now."""

    digest: str | None
    code: str | None
    """The error code; None for a result."""
    shown: Shown
    cursor: str | None
    """The cursor of a cut result; None otherwise."""
    scanned: int
    """Number of files scanned, all from disk: without an index, so this is every file that the search covers."""
    gap: str | None
    """Why the answer is not complete; None if it is."""
    found: tuple[str, int] | None
    """Kind and number of the items listed; None if it is no list."""
    covered: dict[str, int] | None
    """For a search or a list: the number of files selected (`files`) and of names that each rule left out."""
    earlier: str | None = None
    """The digest under earlier versions, whose results did not say what they cover; None if it is the same."""


class Comparison(NamedTuple):
    """One exchange of the trace and the answer that its request gets now."""

    exchange: Exchange
    verdict: ReplayVerdict
    again: Again | None
    spans: tuple[Span, ...]
    """The lines that this exchange is known to have delivered."""
    certain: bool
    """Whether `spans` has all the lines it delivered."""


class Replayer:
    """Runs requests again on a tree that does not change meanwhile; equal requests only once."""

    def __init__(self, corpus: Corpus, options: Options | None = None) -> None:
        self.corpus = corpus
        self.later: Corpus | None = None
        """Another commit, in which the evidence of claims is looked up; None: where it was found."""
        self._options = options or Options()
        self._known: dict[bytes, Again] = {}
        self._resolved: dict[str, str] = {}

    def change(self, corpus: Corpus, options: Options) -> None:
        """Run requests on another corpus and under other options from now on."""
        self.corpus, self._options = corpus, options
        self._known.clear()
        self._resolved.clear()

    def compare(self, exchange: Exchange) -> Comparison:
        """Run a request again and compare the answers."""
        answer = exchange.answer
        code = _code(exchange)
        # `describe` depends on the server, not on the tree.
        if code in _OF_THE_SESSION or exchange.op == "describe":
            return Comparison(exchange, "not_run", None, (), certain=True)
        if code is not None:
            again = self.again(exchange.op, exchange.args)
            return Comparison(exchange, "same" if again.code == code else "differs", again, (), certain=True)
        args = exchange.args
        if "rev" in args and "rev" in answer["summary"]:
            # A branch may have moved since.
            args = {**args, "rev": answer["summary"]["rev"]}
        again = self.again(exchange.op, args)
        if answer["digest"] in (again.digest, again.earlier):
            return Comparison(exchange, "same", again, again.shown.spans, again.shown.whole)
        verdict: ReplayVerdict = "times" if exchange.op == "stat" and again.digest else "differs"
        # Only an answer that the tree still gives shows which lines it delivered: what the event says of their number
        # may be forged, and the lines may say something else now.
        return Comparison(exchange, verdict, again, (), certain=not operations().get(exchange.op, OTHER).quotes)

    def again(self, op: str, args: dict[str, Any]) -> Again:
        """Return the answer that a request gets now, from memory if it was run before."""
        key = hashlib.sha256(canonical([op, args])).digest()
        if key not in self._known:
            self._known[key] = self._run(op, args)
        return self._known[key]

    def find_tree(self, rev: str | None) -> FileTree:
        """Return the tree in which lines are looked up that were cited from a commit, or from none. Raises ZenoError.

        With another commit to look in, its tree."""
        if self.later is not None:
            return self.later.tree
        return (self.corpus if rev is None else self.corpus.revisions.at(rev, "rev")).tree

    def look_up(self, op: str, args: dict[str, Any]) -> Model:
        """Run an operation where the evidence of claims is looked up. Raises ZenoError."""
        request = Request(id="replay", op=op, args=args)
        return dispatch.perform(request, self.later or self.corpus, Meter(options=self._options))

    def perform(self, op: str, args: dict[str, Any], *, limited: bool = True) -> Model:
        """Run an operation and return its result. Raises ZenoError. `limited`: apply the limit on response size."""
        options = self._options if limited else self._options._replace(max_response_bytes=1 << 53)
        return dispatch.perform(Request(id="replay", op=op, args=args), self.corpus, Meter(options=options))

    def _run(self, op: str, args: dict[str, Any]) -> Again:
        try:
            result = self.perform(op, args)
            if wire.success_size("replay", wire.dump(result)) > self._options.max_response_bytes:
                raise ResponseTooLarge("the answer is longer than a response may be")
        except ZenoError as error:
            return Again(None, error.code, Shown((), True), None, 0, None, None, None)
        shown = find_shown(result)
        spans = tuple(span._replace(path=self.resolve(span.path)) for span in shown.spans)
        cursor = getattr(result, "cursor", None)
        stopped = cursor if isinstance(cursor, str) else None
        scanned: int = getattr(result, "metrics").files_scanned  # noqa: B009 - every result has them
        gap = find_gap(result, args, shown)
        shown = shown._replace(spans=spans)
        covered, earlier = _count_covered(result), _earlier_digest(result, args)
        return Again(digest(result), None, shown, stopped, scanned, gap, count_items(result), covered, earlier)

    def resolve(self, path: str) -> str:
        """Return a path with its links resolved, or unchanged if nothing is there."""
        if path not in self._resolved:
            try:
                self._resolved[path] = self.corpus.tree.place(path).path
            except ZenoError:
                self._resolved[path] = path
        return self._resolved[path]


def find_gap(result: Model, args: dict[str, Any], shown: Shown) -> str | None:
    """Return why an answer is not all there is; None if it is."""
    if getattr(result, "truncated", False) is True:
        return "a limit cut it"
    if isinstance(result, SearchResult):
        return "ranked files show what was found, and nothing about other files"
    if isinstance(result, _SEARCHES):
        # Only one page, or no files: nothing is known about the rest.
        if "cursor" in args:
            return "it is a page after others"
        if result.files_selected == 0:
            return "no file was selected, so nothing was searched"
        skipped = {} if result.skipped is MISSING else result.skipped.model_dump()
        left = ", ".join(f"{number} {why}" for why, number in skipped.items() if number and why not in _TOLD)
        return None if result.complete is True else f"it left out {left}"
    return None if shown.whole else "lines of it were clipped"


def _count_covered(result: Model) -> dict[str, int] | None:
    if not isinstance(result, _SEARCHES):
        return None
    if result.left_out is MISSING or result.files_selected is MISSING:
        return None
    return {"files": result.files_selected, **result.left_out.model_dump()}


def _earlier_digest(result: Model, args: dict[str, Any]) -> str | None:
    """The digest of a result without what was added since, and without hints on files that were selected.

    An empty selection could be complete then.
    """
    if not isinstance(result, GrepResult | ListFilesResult):
        return None
    skipped = {} if result.skipped is MISSING else result.skipped.model_dump()
    complete = not (result.truncated or "cursor" in args or any(skipped.values()))
    since = ("files_selected", "left_out", "policy", "skipped_files")
    update: dict[str, Any] = {"complete": complete, **dict.fromkeys(since, MISSING)}
    if result.files_selected:
        update["hints"] = MISSING
    return digest(result.model_copy(update=update))


def _code(exchange: Exchange) -> str | None:
    """Return the error code of an exchange; None if its answer is a result."""
    answer = exchange.answer
    return answer["error"]["code"] if answer["event"] == "error" else None


class Difference(NamedTuple):
    """An answer that differs from the one in the trace."""

    comparison: Comparison
    then: str
    now: str
    files: tuple[str, ...]
    """The files asked for, or files of the tree that changed after the answer was written."""
    guessed: bool
    """Whether `files` is a guess: a search does not say which of its files made the difference."""


class Replay(NamedTuple):
    """The comparison of a whole trace."""

    counts: "Counter[str]"
    """Number of exchanges by verdict. `not_run_describe` counts those of `not_run` that are no errors of a session."""
    differences: list[Difference]


def replay(steps: Iterable[Any], replayer: Replayer, *, count_times: bool = False) -> Replay:
    """Compare all exchanges of a trace. With `count_times` the verdict `times` counts as `differs`."""
    counts: Counter[str] = Counter()
    differences: list[Difference] = []
    suspects = Suspects(replayer.corpus.tree)
    for step in steps:
        if not isinstance(step, Exchange):
            continue
        if suspects.tree is not replayer.corpus.tree:
            suspects = Suspects(replayer.corpus.tree)
        comparison = replayer.compare(step)
        verdict = "differs" if count_times and comparison.verdict == "times" else comparison.verdict
        counts[verdict] += 1
        counts["not_run_describe"] += verdict == "not_run" and _code(step) not in _OF_THE_SESSION
        if verdict == "differs":
            differences.append(_difference(comparison, replayer, suspects))
    return Replay(counts, differences)


def _difference(comparison: Comparison, replayer: Replayer, suspects: Suspects) -> Difference:
    exchange, again = comparison.exchange, comparison.again
    answer = exchange.answer
    then = _code(exchange) or f"digest {answer['digest']}"
    now = "" if again is None else again.code or f"digest {again.digest}"
    args = exchange.args
    asked = [args["path"]] if isinstance(args.get("path"), str) else []
    if isinstance(args.get("paths"), list) and exchange.op == "stat":
        asked += [path for path in args["paths"] if isinstance(path, str)]
    if asked:
        files = tuple(replayer.resolve(path) for path in asked)
    else:
        files = suspects.find_changed(answer["ts"], exchange.op, args)
    return Difference(comparison, then, now, files, guessed=len(asked) != 1)
