"""Collect the data of the page: rows in the order of the trace, files with delivered lines, claims with verdicts.

Repeated values (paths, arguments, delivered ranges) are stored once and referred to by number, so that a trace of
100,000 events fits into a page.
"""

import time
from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from zeno.trace.coverage import file_table, truncation
from zeno.trace.deliveries import Delivered, LineSet, Span, find_stated_span
from zeno.trace.digest import canonical
from zeno.trace.events import Exchange, Pairing, TraceLine
from zeno.trace.log import seconds_of
from zeno.trace.page.excerpts import excerpts
from zeno.trace.page.nesting import nest
from zeno.trace.replay import Comparison, Replayer
from zeno.trace.verify import CheckedClaim, Seen, check_claim

# Most ranges of delivered lines that the page includes; a grep with 200 hits has 200.
MAX_RANGES = 200_000
_CONTEXT = 4


class PageData(NamedTuple):
    """The data of the page."""

    data: dict[str, Any]


class _Table:
    """A list of distinct values and their positions."""

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {}
        self.values: list[Any] = []

    def number(self, key: Any, value: Any) -> int:
        if key not in self._numbers:
            self._numbers[key] = len(self.values)
            self.values.append(value)
        return self._numbers[key]


def collect(
    steps: Iterable[TraceLine | Exchange], pairing: Pairing, replayer: Replayer | None, *, text: str
) -> PageData:
    """Collect the data in one pass over the trace. `text` is delivered, cited or none."""
    collector = _Collector(replayer)
    for step in steps:
        if isinstance(step, Exchange):
            collector.exchange(step)
        else:
            collector.entry(step)
    for number, event in pairing.list_unanswered():
        collector.add_unanswered(number, event)
    return PageData(collector.data(text))


class _Collector:
    def __init__(self, replayer: Replayer | None) -> None:
        self._replayer = replayer
        self._seen = Seen()
        self._rows: list[dict[str, Any]] = []
        self._claims: list[dict[str, Any]] = []
        self._answered: dict[tuple[str, str], int] = {}
        self._paths, self._args, self._deliveries = _Table(), _Table(), _Table()
        self._cuts: dict[bytes, list[Any]] = {}
        self._ranges = 0
        self._ranges_left_out = 0
        self._problems: list[list[Any]] = []
        self._start: int | None = None
        self._end = 0

    # Rows

    def exchange(self, exchange: Exchange) -> None:
        answer = exchange.answer
        self._time(answer["ts"])
        row = self._row("op", exchange.asked, exchange.asked_at) | {
            "end": exchange.answered,
            "id": exchange.id,
            "op": exchange.op,
            "args": self._args.number(canonical(exchange.args), exchange.args),
        }
        comparison = None
        if self._replayer is not None:
            comparison = self._replayer.compare(exchange)
            self._seen.add(comparison, self._replayer.corpus.tree)
            row["replay"] = comparison.verdict
        if answer["event"] == "error":
            row["error"] = [answer["error"]["code"], answer["error"]["message"]]
        else:
            self._answered[exchange.id, answer["digest"]] = exchange.asked
            summary, metrics = answer["summary"], answer["summary"]["metrics"]
            row |= {"ms": metrics["time_ms"], "bytes": metrics["bytes_read"], "scanned": metrics["files_scanned"]}
            row |= {"count": summary["count"] if summary["count"] is not None else metrics.get("lines_returned")}
            if summary["truncated"]:
                row["cut"] = self._count_withheld(comparison)
            spans = self._spans(exchange, comparison)
            if spans:
                row["seen"] = self._delivery(spans)
        self._rows.append(row)

    def _count_withheld(self, comparison: Comparison | None) -> list[Any]:
        if comparison is None or self._replayer is None:
            return []
        exchange = comparison.exchange
        key = canonical([exchange.op, exchange.args, exchange.answer["digest"]])
        if key not in self._cuts:
            found = truncation(comparison, self._replayer)
            self._cuts[key] = [found.hidden, found.at_least, found.what]
        return self._cuts[key]

    def _spans(self, exchange: Exchange, comparison: Comparison | None) -> tuple[Span, ...]:
        if comparison is not None:
            return comparison.spans
        stated = find_stated_span(exchange.op, exchange.args, exchange.answer["summary"])
        if stated is None:
            return ()
        self._seen.delivered.add([stated])
        return (stated,)

    def _delivery(self, spans: tuple[Span, ...]) -> int | None:
        """Store ranges as flat numbers (path, first, last, ...) and return their position; None over the limit."""
        flat = tuple(number for span in spans for number in (self._path(span.path), span.first, span.last))
        before = len(self._deliveries.values)
        if self._ranges + len(spans) > MAX_RANGES:
            self._ranges_left_out += 1
            return None
        number = self._deliveries.number(flat, flat)
        if len(self._deliveries.values) > before:
            self._ranges += len(spans)
        return number

    def entry(self, entry: TraceLine) -> None:
        event = entry.event
        if entry.problem:
            self._problems.append([entry.number, *entry.problem])
        if event is None:
            self._rows.append({"kind": "torn", "line": entry.number, "t": None, "text": (entry.problem or ("", ""))[1]})
        elif event["event"] == "claim":
            self._claim(entry.number, event)
        elif event["event"] in ("subcall_start", "subcall_end"):
            row = self._row("start" if event["event"] == "subcall_start" else "end", entry.number, event["ts"])
            row |= {"id": event["id"], "text": event.get("task", event.get("outcome", ""))}
            if "parent" in event:
                row["parent"] = event["parent"]
            self._rows.append(row)
        elif event["event"] == "error":
            row = self._row("stray", entry.number, event["ts"]) | {"id": event["id"], "op": event["op"]}
            self._rows.append(row | {"error": [event["error"]["code"], event["error"]["message"]]})
        elif event["event"] == "response":
            row = self._row("torn", entry.number, event["ts"])
            self._rows.append(row | {"text": f"a response to {event['id']!r}, which has no request here"})

    def add_unanswered(self, number: int, event: dict[str, Any]) -> None:
        row = self._row("open", number, event["ts"]) | {"id": event["id"], "op": event["op"]}
        self._rows.append(row | {"args": self._args.number(canonical(event["args"]), event["args"])})

    def _claim(self, number: int, event: dict[str, Any]) -> None:
        row = self._row("claim", number, event["ts"]) | {"text": event["claim"], "claim": len(self._claims)}
        for name in ("id", "parent"):
            if name in event:
                row[name] = event[name]
        checked = None if self._replayer is None else check_claim(number, event, self._seen, self._replayer)
        self._rows.append(row)
        # Now and not at the end: only answers before the claim count as delivered.
        self._claims.append(self._describe_claim(event, checked))

    def _row(self, kind: str, line: int, moment: str) -> dict[str, Any]:
        return {"kind": kind, "line": line, "t": self._time(moment)}

    def _time(self, moment: str) -> int | None:
        """Return the seconds of a time in the trace, which then begins no later and ends no sooner; None for none."""
        seconds = seconds_of(moment)
        if seconds is not None:
            self._start = seconds if self._start is None else min(self._start, seconds)
            self._end = max(self._end, seconds)
        return seconds

    def _path(self, path: str) -> int:
        return self._paths.number(path, path)

    # The whole

    def data(self, text: str) -> dict[str, Any]:
        """Return the data, after the last row."""
        self._rows.sort(key=lambda row: row["line"])
        start = self._start or 0
        for row in self._rows:
            if row["t"] is not None:
                row["t"] -= start
        nest(self._rows)
        table, binary = self._files()
        cited = self._cite()
        texts: dict[str, list[Any]] = {}
        left_out = 0
        if self._replayer is not None and text != "none":
            groups = [cited, self._seen.delivered] if text == "delivered" else [cited]
            texts, left_out = excerpts(groups, self._replayer.corpus.tree)
        used = Counter(name for row in self._rows for name, value in row.items() if value is not None)
        columns = sorted(used, key=lambda name: (-used[name], name))
        return {
            "start": None if self._start is None else time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(start)),
            "seconds": max(0, self._end - start),
            "tree": self._replayer is not None,
            "columns": columns,
            "rows": [_trim([row.get(name) for name in columns]) for row in self._rows],
            "args": self._args.values,
            "deliveries": self._deliveries.values,
            "ranges_left_out": self._ranges_left_out,
            "claims": self._claims,
            "files": table,
            "binary": binary,
            "problems": self._problems,
            "texts": {self._path(path): runs for path, runs in texts.items()},
            "text_left_out": left_out,
            "paths": self._paths.values,
        }

    def _describe_claim(self, event: dict[str, Any], checked: CheckedClaim | None) -> dict[str, Any]:
        evidence = []
        for index, citation in enumerate(event["evidence"]):
            one = checked.evidence[index] if checked else None
            told = [self._path(one.path if one else citation["path"]), citation["start_line"], citation["end_line"]]
            if one:
                told += [one.verdict, one.provenance, one.moved_to, one.reason]
            else:
                seen = self._seen.delivered.covers(citation["path"], citation["start_line"], citation["end_line"])
                told += [None, "delivered" if seen else "unknown", None, None]
            evidence.append(told)
        answers = []
        for index, answer in enumerate(event.get("answers", ())):
            line = self._answered.get((answer["id"], answer["digest"]))
            verdict, reason = None if line else "not_given", None
            if checked:
                cited = checked.answers[index]
                verdict, reason = cited.verdict, "; ".join(filter(None, (cited.reason, cited.coverage))) or None
            answers.append([answer["id"], line, verdict, reason])
        holds = checked.checks_out if checked else None
        claim: dict[str, Any] = {"holds": holds, "evidence": evidence, "answers": answers}
        if "search" in event:
            search = checked.search if checked else None
            found = f": {search.verdict}, matching lines: {search.lines}" if search else ""
            sought = event["search"].get("pattern") or event["search"].get("name", "")
            claim["search"] = f"{event['search']['type']}: {sought}{found}"
        return claim

    def _files(self) -> tuple[list[list[Any]], int]:
        """Return path, lines, delivered lines and ranges of every file; without a tree, of files in the trace only."""
        delivered = self._seen.delivered
        if self._replayer is None:
            told = sorted(delivered.files.items())
            return [[self._path(path), None, lines.count(), _flat(lines)] for path, lines in told], 0
        table, binary = file_table(self._replayer.corpus.tree, delivered)
        return [
            [self._path(file.path), file.total, file.delivered, [n for pair in file.ranges for n in pair]]
            for file in table
        ], binary

    def _cite(self) -> Delivered:
        cited = Delivered()
        for claim in self._claims:
            for path, first, last, _, _, moved, _ in claim["evidence"]:
                for low, high in ((first, last), moved or (first, last)):
                    if low <= high:
                        cited.add([Span(self._paths.values[path], max(1, int(low) - _CONTEXT), int(high) + _CONTEXT)])
        return cited


def _trim(values: list[Any]) -> list[Any]:
    """Remove the nulls at the end. The rarest columns come last, so most rows get short."""
    while values and values[-1] is None:
        values.pop()
    return values


def _flat(lines: LineSet) -> list[int]:
    return [number for pair in lines.ranges() for number in pair]
