"""Links from a number of the page to its records, and from a record to the lines of the raw bundle."""

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from normalizer.documents import lossless
from normalizer.documents.exact import rounded
from normalizer.documents.locate import ItemSpan, items, place
from normalizer.report.markup import NA, Html, brief, el, text, visible
from normalizer.report.record_status import RecordStatus, spelled
from normalizer.report.study import Study
from normalizer.tables import formats

MOST_RAW = 20_000_000
"""Bytes of raw bundles that a page carries; beyond, lines are named but not shown."""
_LONGEST = 2_000
"""Characters of a raw line that are shown."""


class Drilldowns:
    """Collects the records and lines that numbers link to."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, tuple[int, ...], tuple[tuple[str, str], ...]], int] = {}

    def add(
        self, title: str, records: Iterable[RecordStatus | int], spots: tuple[tuple[str, str], ...] = ()
    ) -> int | None:
        """Return the number of a drilldown; None if it shows nothing. `spots` are bundles and pointers to show too."""
        places = tuple(sorted({each if isinstance(each, int) else each.place for each in records}))
        if not places and not spots:
            return None
        return self._known.setdefault((title, places, spots), len(self._known))

    def number(self, value: Decimal | int | str | None, drilldown: int | None, places: int = 3) -> Html:
        """A number that opens its drilldown."""
        if value is None:
            shown, full = NA, None
        else:
            shown = value if isinstance(value, str) else brief(value, places)
            full = f"{value:f}" if isinstance(value, Decimal) else None
        if drilldown is None:
            return el("span", shown, class_="na" if value is None else "plain", title=full)
        return el("button", shown, type="button", class_="n", data_t=drilldown, title=full)

    def words(self, shown: str, drilldown: int | None) -> Html:
        """Words that open a drilldown."""
        return (
            text(shown) if drilldown is None else el("button", shown, type="button", class_="n words", data_t=drilldown)
        )

    def document(self, raw: "Raw") -> list[dict[str, Any]]:
        """The drilldowns as data for the page's script."""
        return [
            {
                "title": visible(title),
                "records": list(places),
                "spots": [[raw.numbers[sha256], raw.lines(sha256, pointer)] for sha256, pointer in spots],
            }
            for title, places, spots in self._known
        ]


class Raw:
    """The raw bundles, and where in them things stand."""

    def __init__(self, bundles: dict[str, bytes]) -> None:
        self.numbers = {sha: number for number, sha in enumerate(sorted(bundles))}
        self._texts = {sha: bundles[sha].decode("utf-8", "replace") for sha in self.numbers}
        self._entries: dict[tuple[str, str], list[ItemSpan]] = {}

    def entry(self, sha256: str, pointer: str, line: int | None = None) -> ItemSpan:
        """The lines of an entry in its raw bundle. A row of a file that is not one document has the line `line`."""
        if line is not None:
            return ItemSpan(line, line, 0, 0)
        parent, _, index = pointer.rpartition("/")
        if (sha256, parent) not in self._entries:
            self._entries[sha256, parent] = items(self._texts[sha256], parent)
        return self._entries[sha256, parent][int(index)]

    def lines(self, sha256: str, pointer: str) -> tuple[int, int]:
        """First and last line of what a pointer names, or of what would hold it."""
        try:
            found = place(self._texts[sha256], pointer)
        except (ValueError, IndexError, RecursionError):  # no JSON: the whole of it is meant
            return 1, self._texts[sha256].count("\n") + 1
        return found.first, found.last if found.there else found.first

    def within(self, sha256: str, entry: str, pointer: str, line: int | None = None) -> tuple[int, int]:
        """The lines of a value inside an entry, located without reading the text before the entry."""
        if line is not None:
            return line, line
        if not pointer.startswith(f"{entry}/"):
            return self.lines(sha256, pointer)
        span = self.entry(sha256, entry)
        found = place(self._texts[sha256][span.start : span.end], pointer.removeprefix(entry))
        first, last = (span.first - 1 + line for line in (found.first, found.last))
        return first, last if found.there else first

    def document(self) -> list[dict[str, Any]]:
        """The bundles as the page carries them."""
        left = MOST_RAW
        found = []
        for sha256 in self.numbers:
            text = self._texts[sha256]
            left -= len(text)
            shown = left >= 0 and not text.startswith("PK\x03\x04")  # bytes of an archive are no lines
            lines = [_cut(visible(line.rstrip("\r"))) for line in text.split("\n")] if shown else None
            found.append({"sha256": sha256, "lines": lines})
        return found


def _cut(line: str) -> str:
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]} \u2026 ({len(line)} characters)"


_OF_A_COMPARISON = ("a", "b", "verdict", "verdict_about", "order", "repeat", "criterion", "length")
_SHOWN = ("judge_model", "generator_model", "phase", "judge_prompt_version", "run_id", "protocol_version", "file")


def records_document(study: Study, raw: Raw) -> list[dict[str, Any]]:
    """Every record as the page shows it, in the order of their places."""
    evidence: dict[tuple[int, str], list[dict[str, Any]]] = {}
    for number, report in enumerate(study.evidence):
        for finding in report["findings"]:
            evidence.setdefault((number, finding["record_id"]), []).append(finding)
    return [
        _record(each, raw, None if each.role else evidence.get((each.part, each.record["record_id"])))
        for each in (*study.records, *study.others)
    ]


def _record(each: RecordStatus, raw: Raw, findings: list[dict[str, Any]] | None) -> dict[str, Any]:
    record, source = each.record, each.record["source"]
    sha256 = source["bundle_sha256"]
    scores = record.get("scores")
    line = int(source["line"]) if "line" in source else None
    span = raw.entry(sha256, source["pointer"], line)
    about = [(name, _said(record[name])) for name in _SHOWN if name in record]
    factors = record.get("factors")
    about += [(name, _said(level)) for name, level in (factors.items() if isinstance(factors, dict) else ())]
    return {
        "id": record["record_id"],
        "artifact": _title(record),
        "judge": _said(record.get("judge_model", NA)),
        "status": each.status,
        "scores": [[visible(name), visible(spelled(score))] for name, score in scores.items()]
        if isinstance(scores, dict)
        else [],
        "total": None if each.total is None else formats.cell_text(rounded(each.total)),
        **({"verdict": _verdict(record)} if record.get("kind") == "comparison" else {}),
        **({"role": each.role} if each.role else {}),
        "about": [[visible(name), value] for name, value in about],
        "reasons": [
            [
                reason["code"],
                visible(reason["message"]),
                *raw.within(sha256, source["pointer"], reason["pointer"], line),
            ]
            for reason in record.get("reasons", [])
        ],
        "evidence": _evidence(record, findings),
        "bundle": raw.numbers[sha256],
        "pointer": visible(source["pointer"]),
        "lines": [span.first, span.last],
    }


def _title(record: dict[str, Any]) -> str:
    named = _said(record.get("artifact", record.get("file", NA)))
    if record.get("kind") != "comparison":
        return named
    return f"{named}: {_said(record.get('a', NA))} against {_said(record.get('b', NA))}"


def _verdict(record: dict[str, Any]) -> list[list[str]]:
    """The verdict of a comparison as it was written, and what it means."""
    outcome = record.get("outcome")
    meant = outcome if isinstance(outcome, dict) else {}
    winner = _said(meant.get("winner", NA))
    named = _said(meant[winner]) if winner in ("a", "b") and winner in meant else winner.replace("_", " ")
    found = [["winner", named]]
    found += [[name, _said(record[name])] for name in _OF_A_COMPARISON if name in record]
    return found + [[name.replace("_", " "), _said(meant[name])] for name in ("shown_first", "turned") if name in meant]


def _said(value: Any) -> str:
    return visible(value if type(value) is str else lossless.dumps(value))


def _evidence(record: dict[str, Any], findings: list[dict[str, Any]] | None) -> list[list[Any]]:
    if findings is not None:
        return [
            [
                visible(finding["dimension"]),
                visible(finding["quote"]),
                finding["verdict"],
                [visible(other["artifact"]) for other in finding["found_in"]],
            ]
            for finding in findings
        ]
    evidence = record.get("evidence")
    quotes = evidence.items() if isinstance(evidence, dict) else ()
    return [[visible(name), visible(quote), None, []] for name, quote in quotes if type(quote) is str]
