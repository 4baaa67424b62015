"""Links from a number of the page to its records, and from a record to the lines of the raw bundle."""

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from normalizer.documents import lossless
from normalizer.documents.exact import round_exact
from normalizer.documents.lossless import Number
from normalizer.report.markup import NA, Html, brief, el, text, visible
from normalizer.report.raw_lines import Raw
from normalizer.report.records.record_table import Behind
from normalizer.report.records.sample import ShownRecord
from normalizer.report.study import Study
from normalizer.tables import formats


class Drilldowns:
    """Collects the records and lines that numbers link to."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, tuple[int, ...], tuple[tuple[str, str], ...]], int] = {}

    def add(self, title: str, behind: Behind, spots: tuple[tuple[str, str], ...] = ()) -> int | None:
        """Return the number of a drilldown; None if it shows nothing. `spots` are bundles and pointers to show too."""
        if not behind.count and not spots:
            return None
        if len(behind.shown) < behind.count:
            title = f"{title} ({len(behind.shown):,} of {behind.count:,} are shown)"
        return self._known.setdefault((title, tuple(sorted(behind.shown)), spots), len(self._known))

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

    def numbers(self, values: Iterable[Decimal | int | str | None], drilldown: int | None) -> list[Html]:
        """Numbers that open one drilldown; one that is NA opens nothing."""
        return [self.number(value, drilldown if value is not None else None) for value in values]

    def words(self, shown: str, drilldown: int | None) -> Html:
        """Words that open a drilldown."""
        return (
            text(shown) if drilldown is None else el("button", shown, type="button", class_="n words", data_t=drilldown)
        )

    def document(self, raw: Raw) -> list[dict[str, Any]]:
        """The drilldowns as data for the page's script."""
        return [
            {
                "title": visible(title),
                "records": list(places),
                "spots": [
                    [raw.numbers[sha256], raw.lines(sha256, pointer)]
                    for sha256, pointer in spots
                    if sha256 in raw.numbers
                ],
            }
            for title, places, spots in self._known
        ]


_OF_A_COMPARISON = ("a", "b", "verdict", "verdict_about", "order", "repeat", "criterion", "length")
_SHOWN = ("judge_model", "generator_model", "phase", "judge_prompt_version", "run_id", "protocol_version", "file")


def records_document(study: Study, raw: Raw) -> list[dict[str, Any]]:
    """The records that the page shows, in the order of their places."""
    evidence: dict[tuple[int, str], list[dict[str, Any]]] = {}
    for number, report in enumerate(study.evidence):
        for finding in report["findings"]:
            evidence.setdefault((number, finding["record_id"]), []).append(finding)
    return [
        _record(each, each.record, raw, None if each.role else evidence.get((each.part, each.id)))
        for each in study.shown
    ]


def _record(
    each: ShownRecord, record: dict[str, Any], raw: Raw, findings: list[dict[str, Any]] | None
) -> dict[str, Any]:
    source = record["source"]
    sha256 = source["bundle_sha256"]
    scores = record.get("scores")
    row = raw.row(source)
    span = raw.entry(sha256, source["pointer"], row)
    about = [(name, _as_text(record[name])) for name in _SHOWN if name in record]
    factors = record.get("factors")
    about += [(name, _as_text(level)) for name, level in (factors.items() if isinstance(factors, dict) else ())]
    return {
        "id": record["record_id"],
        "artifact": _title(record),
        "judge": _as_text(record.get("judge_model", NA)),
        "status": each.status,
        "scores": [[visible(name), visible(_spell_score(score))] for name, score in scores.items()]
        if isinstance(scores, dict)
        else [],
        "total": None if each.total is None else formats.cell_text(round_exact(each.total)),
        **({"verdict": _verdict(record)} if record.get("kind") == "comparison" else {}),
        **({"role": each.role} if each.role else {}),
        "about": [[visible(name), value] for name, value in about],
        "reasons": [
            [
                reason["code"],
                visible(reason["message"]),
                *raw.within(sha256, source["pointer"], reason["pointer"], row),
            ]
            for reason in record.get("reasons", [])
        ],
        "evidence": _evidence(record, findings),
        "bundle": raw.numbers[sha256],
        "pointer": visible(source["pointer"]),
        "lines": [span.first, span.last],
    }


def _spell_score(score: Any) -> str:
    """A score as the judge wrote it."""
    return str(score) if isinstance(score, Number) else lossless.dumps(score)


def _title(record: dict[str, Any]) -> str:
    named = _as_text(record.get("artifact", record.get("file", NA)))
    if record.get("kind") != "comparison":
        return named
    return f"{named}: {_as_text(record.get('a', NA))} against {_as_text(record.get('b', NA))}"


def _verdict(record: dict[str, Any]) -> list[list[str]]:
    """The verdict of a comparison as it was written, and what it means."""
    outcome = record.get("outcome")
    meant = outcome if isinstance(outcome, dict) else {}
    winner = _as_text(meant.get("winner", NA))
    named = _as_text(meant[winner]) if winner in ("a", "b") and winner in meant else winner.replace("_", " ")
    found = [["winner", named]]
    found += [[name, _as_text(record[name])] for name in _OF_A_COMPARISON if name in record]
    return found + [
        [name.replace("_", " "), _as_text(meant[name])] for name in ("shown_first", "turned") if name in meant
    ]


def _as_text(value: Any) -> str:
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
