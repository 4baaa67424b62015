"""Compare what judges claim about their own scores with the records.

Claims are the numbers under a bundle's `aggregates`, and the totals of its entries. A claim is interpreted by its name
alone, with the words of `rules/claims.json`. A claim that names no known statistic is reported as not derivable.
Claimed numbers are never used.
"""

import re
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from itertools import groupby
from typing import Any, NamedTuple

import contract_spec as spec

from normalizer.documents.exact import round_exact
from normalizer.documents.lossless import Number, exact_value
from normalizer.documents.pointers import AppliedStep, escape, original, translate
from normalizer.documents.rubric import Rubric, exact_sum, rubric_of
from normalizer.documents.settings import dialect_of
from normalizer.ledger.line_format import sha_slice
from normalizer.ledger.open_ledgers import check_conserved
from normalizer.ledger.reader import Ledger

_WORDS: dict[str, Any] = spec.resource("rules/claims.json")
_STATISTIC = {word: name for name, words in _WORDS["statistics"].items() for word in words}
_NONE: tuple[str, Iterator[bytes]] = ("", iter(()))
_VERDICTS = ("match", "rounded", "mismatch", "not_derivable")


class Meaning(NamedTuple):
    """The meaning of a claim's name."""

    statistic: str
    measure: str | None
    """A dimension, `total`, or None for a count."""


def claims(ledger: Ledger) -> dict[str, Any]:
    """Return all claims of a ledger's bundles with their verdicts, as a document of `claims.json`."""
    found = list(iterate_claims(ledger))
    counts = Counter(claim["verdict"] for claim in found)
    return {"claims": found, "counts": {verdict: counts[verdict] for verdict in _VERDICTS}}


def iterate_claims(ledger: Ledger) -> Iterator[dict[str, Any]]:
    """Yield the claims of a ledger's bundles, in the order of the bundles. Headers and records are read once."""
    where = sha_slice("records")
    bundles = groupby(ledger.iterate_checked_lines("records"), key=lambda line: line[where].decode("ascii"))
    known, lines = next(bundles, _NONE)
    for line in ledger.iterate_checked_lines("headers"):
        header = ledger.exact("headers", line)
        while known and known < header["bundle_sha256"]:
            known, lines = next(bundles, _NONE)
        own = list(lines) if known == header["bundle_sha256"] else []
        check_conserved("valid", len(own), int(header["valid"]))
        yield from _of_bundle(ledger, header, own)


def meaning(path: list[str], dimensions: list[str]) -> Meaning | None:
    """Return the meaning of the names on the path to a claim; None if it is not unique."""
    words: list[str] = []
    measures: list[str] = []
    for step in path:
        if step in dimensions:
            measures.append(step)
            continue
        for dimension in dimensions:
            if re.search(rf"(^|[^A-Za-z0-9]){re.escape(dimension)}($|[^A-Za-z0-9])", step):
                measures.append(dimension)
                step = step.replace(dimension, " ")
                break
        words += re.findall("[a-z]+|[^a-z_. -]+", re.sub("([a-z])([A-Z])", r"\1_\2", step).lower())
    statistics = {_STATISTIC[word] for word in words if word in _STATISTIC}
    totals = [word for word in words if word in _WORDS["total"]]
    rest = [word for word in words if word not in _STATISTIC and word not in totals and word not in _WORDS["ignored"]]
    if len(statistics) > 1 or len(set(measures)) > 1 or (measures and "total" in totals):
        return None
    if "total" in dimensions and "total" in (*measures, *totals):  # the sum, or the dimension of that name
        return None
    if statistics == {"count"} and not measures and all(word in _WORDS["counted"] for word in rest):
        return Meaning("count", None)
    if rest or statistics == {"count"}:
        return None
    if measures:
        return Meaning(statistics.pop(), measures[0]) if statistics else None
    return Meaning(statistics.pop(), "total") if statistics and totals else None


def _of_bundle(ledger: Ledger, header: dict[str, Any], lines: list[bytes]) -> Iterator[dict[str, Any]]:
    known = {"bundle_sha256": header["bundle_sha256"], "invalid": int(header["invalid"])}
    envelope, moved = header["header"], list[AppliedStep]()
    if "dialect" in header["settings"]:
        dialect = dialect_of(ledger.document(header["settings"]["dialect"]))
        envelope, moved, _, _ = translate(envelope, dialect.bundle)
    told = list(_numbers(original("/aggregates", moved), [], envelope.get("aggregates")))
    # Records are needed only for claims about them all, or if they have one of their own.
    needed = lines if told else [line for line in lines if b'"total":' in line]
    if not needed and not told:
        return
    rubric = rubric_of(ledger.document(header["settings"]["rubric"]))
    records = [ledger.exact("records", line) for line in needed]
    scored = [(record, _worths(record, rubric)) for record in records]
    values = [worths for _, worths in scored if worths is not None]
    for pointer, path, claimed in told:
        meant = meaning(path, list(rubric.dimensions))
        yield {**known, **_check_claim(pointer, claimed, meant, values)}
    for record, worths in scored:
        if "total" in record and worths is not None:
            pointer = f"{record['source']['pointer']}/total"
            yield {**known, **_check_claim(pointer, record["total"], Meaning("sum", "total"), [worths])}


def _numbers(pointer: str, path: list[str], value: Any) -> Iterator[tuple[str, list[str], Number]]:
    """Yield every number below a value, with its pointer and the names on the path to it."""
    if type(value) is Number:
        yield pointer, path, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _numbers(f"{pointer}/{escape(key)}", [*path, key], inner)
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from _numbers(f"{pointer}/{place}", [*path, str(place)], inner)


def _worths(record: dict[str, Any], rubric: Rubric) -> dict[str, Decimal] | None:
    """Return the values of a record's scores and their sum; None if one is not on the scale, or it is a comparison."""
    worths = {}
    for key, dimension in rubric.dimensions.items():
        if dimension.optional and key not in record.get("scores", {}):
            continue
        worth = dimension.scale.worth(record.get("scores", {}).get(key))
        if worth is None:
            return None
        worths[key] = worth
    return {**worths, "total": exact_sum(list(worths.values()))}


def _check_claim(
    pointer: str, claimed: Number, meant: Meaning | None, values: list[dict[str, Decimal]]
) -> dict[str, Any]:
    exact = None if meant is None else _recompute(meant, values)
    return {
        "pointer": pointer,
        "claimed": str(claimed),
        "statistic": None if meant is None else meant.statistic,
        "measure": None if meant is None else meant.measure,
        "recomputed": None if exact is None else round_exact(exact),
        "records": len(values),
        "verdict": _verdict(claimed, exact),
    }


def _recompute(meant: Meaning, values: list[dict[str, Decimal]]) -> Fraction | None:
    if meant.measure is None:
        return Fraction(len(values))
    numbers = [Fraction(each[meant.measure]) for each in values if meant.measure in each]
    if not numbers:
        return None
    match meant.statistic:
        case "sum":
            return sum(numbers, Fraction(0))
        case "mean":
            return sum(numbers, Fraction(0)) / len(numbers)
        case "min":
            return min(numbers)
    return max(numbers)


def _verdict(claimed: Number, exact: Fraction | None) -> str:
    value = exact_value(claimed)
    if exact is None or value is None:
        return "not_derivable"
    exponent = value.as_tuple().exponent
    if abs(value.adjusted()) > 100 or not isinstance(exponent, int):
        return "mismatch"
    if Fraction(value) == exact:
        return "match"
    # Equal to as many places as it is written with; a tie may be rounded either way.
    half = Fraction(1, 2) * Fraction(10) ** exponent
    return "rounded" if exponent <= 0 and abs(Fraction(value) - exact) <= half else "mismatch"
