"""Records of the further ledgers that a page shows: comparisons, gold labels and the base of a gate."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

from normalizer.aggregate.eligibility import Kind
from normalizer.aggregate.groups import selected
from normalizer.aggregate.restated_scores import scores_of
from normalizer.aggregate.summary import Options
from normalizer.documents.lossless import loads_plain
from normalizer.documents.phases import is_self_judged
from normalizer.documents.rubric import Rubric
from normalizer.ledger.reader import Ledger
from normalizer.report.record_status import RecordStatus, check_count

EVERYONE = frozenset(("model", "human", "reference"))


def add_records(
    ledgers: list[Ledger],
    role: str,
    rubric: Rubric,
    options: Options,
    records: list[RecordStatus],
    bundles: dict[str, bytes],
) -> None:
    """Read all records of opened ledgers and append them to `records`, and their raw bytes to `bundles`.

    `role` says what they are on the page for: preferences, gold or base. A bundle that is in `records` already with the
    role "" is not read again, but for the base of a gate, which may be the ledger itself.
    """
    known = {each.plain["source"]["bundle_sha256"] for each in records if not each.role} if role == "gold" else set()
    everybody = replace(options.rules, judge_kinds=EVERYONE) if role == "gold" else options.rules
    found: list[RecordStatus] = []
    part = max((each.part for each in records), default=-1)
    for ledger in ledgers:
        part += 1
        for kind in ("records", "invalid"):
            for line in ledger.checked_lines(kind):
                plain = loads_plain(line)
                if plain["source"]["bundle_sha256"] in known:
                    continue
                each = _placed(len(records) + len(found), part, kind, ledger, line, plain, rubric)
                each.role = role
                if not selected(plain, options.where if role == "base" else {}):
                    each.status = "not_selected"
                elif each.kind is not None:
                    each.status = everybody.refusal(each.kind) or "counted"
                else:
                    each.status = "invalid"
                found.append(each)
                sha256 = plain["source"]["bundle_sha256"]
                if sha256 not in bundles:
                    bundles[sha256] = ledger.bundle(sha256)
    check_count(len(records) + len(found))
    records += found


def _placed(
    place: int, part: int, kind: str, ledger: Ledger, line: bytes, plain: dict[str, Any], rubric: Rubric
) -> RecordStatus:
    record = ledger.exact(kind, line)
    each = RecordStatus(place, record, plain, part, (), None, None)
    if kind == "records":
        worths = scores_of(record, rubric) if "scores" in record else None
        if worths is not None:
            each.worths = {name: Fraction(worth) for name, worth in worths.items()}
        off = worths is None and "scores" in record
        judges = plain.get("judge_kind", "model")
        each.kind = Kind(int(plain["phase"]), plain.get("protocol_version"), is_self_judged(plain), off, judges)
    return each
