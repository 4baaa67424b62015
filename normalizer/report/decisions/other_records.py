"""Records of the further ledgers that a page shows: comparisons, gold labels and the base of a gate."""

from dataclasses import replace

from normalizer.aggregate.groups import selected
from normalizer.aggregate.summary import Options
from normalizer.documents.rubric import Rubric
from normalizer.ledger.line_format import sha_slice
from normalizer.ledger.reader import Ledger
from normalizer.report.record_status import RecordStatus, check_count, read_record
from normalizer.screening.raw_rows import unpacked_bundle

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
                sha256 = line[sha_slice(kind)].decode("ascii")
                if sha256 in known:
                    continue
                each = read_record(len(records) + len(found), part, kind, line, ledger, rubric)
                each.role = role
                if not selected(each.plain, options.where if role == "base" else {}):
                    each.status = "not_selected"
                elif each.kind is not None:
                    each.status = everybody.refusal(each.kind) or "counted"
                else:
                    each.status = "invalid"
                found.append(each)
                if sha256 not in bundles:
                    bundles[sha256] = unpacked_bundle(ledger, sha256)
    check_count(len(records) + len(found))
    records += found
