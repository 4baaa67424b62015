"""Defects of a study that are not visible in a single file, with counts, the worst first."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from normalizer.checks.study.collect import StudyRecord, rows

_SHOWN = 5
"""Number of examples per finding."""
_DIGITS = re.compile(r"([0-9]+)")


class StudyFinding(NamedTuple):
    """A defect: number of records concerned, number of all, and examples."""

    code: str
    records: int
    of: int
    sentence: str
    examples: list[str]


def findings(folder: Path) -> list[StudyFinding]:
    """Return all findings on a study, sorted by the share of records concerned."""
    everything = list(rows(folder))
    found = [finding for check in CHECKS for finding in check(everything)]
    return sorted(found, key=lambda finding: (-finding.records / max(finding.of, 1), finding.code, finding.sentence))


def _finding(code: str, sentence: str, concerned: Iterable[StudyRecord], of: int) -> Iterator[StudyFinding]:
    listed = sorted(concerned, key=lambda row: (str(row.ledger), row.bundle, _in_order(row.place), row.record_id))
    if listed:
        yield StudyFinding(code, len(listed), of, sentence, [_example(row) for row in listed[:_SHOWN]])


def _in_order(place: str) -> list[tuple[int, str]]:
    """A key by which line 2 comes before line 10."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in _DIGITS.split(place)]


def _example(row: StudyRecord) -> str:
    return f"{row.record_id[:12]} {row.ledger} {row.place}: {row.item or '-'} {row.generator or '-'}"


def same_answer_for_two_generators(everything: list[StudyRecord]) -> Iterator[StudyFinding]:
    """Equal bytes or text, submitted as the answers of several generators to one item."""
    answered = (row for row in everything if row.answer and row.generator)
    shared = _differ_in_group(answered, lambda row: (row.answer, row.item), lambda row: row.generator)
    yield from _finding(
        "same_answer_two_generators", "the same answer stands under several generators", shared, len(everything)
    )
    written = (row for row in everything if row.text and row.generator)
    shared = _differ_in_group(written, lambda row: row.text, lambda row: row.generator)
    sentence = "the same row, to the character, stands under several generators"
    yield from _finding("same_row_two_generators", sentence, shared, len(everything))


def _differ_in_group(
    rows: Iterable[StudyRecord], group: Callable[[StudyRecord], Any], value: Callable[[StudyRecord], Any]
) -> list[StudyRecord]:
    """Return the rows of groups in which a value is not the same everywhere."""
    groups: dict[Any, list[StudyRecord]] = defaultdict(list)
    for row in rows:
        groups[group(row)].append(row)
    return [row for each in groups.values() if len({value(row) for row in each}) > 1 for row in each]


def answer_of_another_item(everything: list[StudyRecord]) -> Iterator[StudyFinding]:
    """One generator's answer to one item, judged as its answer to another."""
    answered = (row for row in everything if row.answer)
    shared = _differ_in_group(answered, lambda row: (row.answer, row.generator), lambda row: row.item)
    sentence = "one text was judged as the answer to several items"
    yield from _finding("answer_of_another_item", sentence, shared, len(everything))


def names_that_contradict(everything: list[StudyRecord]) -> Iterator[StudyFinding]:
    """A generator or judge that contradicts the manifest, --set, or the folder that is named after another one."""
    stated = [row for row in everything if "manifest_contradiction" in row.codes]
    yield from _finding("contradicts_manifest", "a row contradicts its manifest or --set", stated, len(everything))
    for what, wrong in _in_wrong_folders(everything).items():
        sentence = f"the {what} is not the one that the folder is named after"
        yield from _finding(f"{what}_contradicts_folder", sentence, wrong, len(everything))


def _in_wrong_folders(everything: list[StudyRecord]) -> dict[str, list[StudyRecord]]:
    """Rows whose generator or judge is not the one that their folder is named after."""
    found = {}
    for what, value in _NAMED.items():
        names = {name for row in everything if (name := value(row))}
        found[what] = [row for row in everything if _is_elsewhere(value(row), names & set(row.ledger.parts))]
    return found


def _is_elsewhere(name: str | None, folders: set[str]) -> bool:
    return name is not None and bool(folders) and name not in folders


_NAMED: dict[str, Callable[[StudyRecord], str | None]] = {
    "generator": lambda row: row.generator,
    "judge": lambda row: row.judge,
}


def find_repeated_rows(everything: list[StudyRecord]) -> Iterator[StudyFinding]:
    """Rows that occur more than once, within a file or in several."""
    within = [row for row in everything if "file_duplicated" in row.codes]
    sentence = "several rows of a file are for one answer"
    yield from _finding("rows_repeated_within_a_file", sentence, within, len(everything))
    whole = (row for row in everything if row.item and row.judge and row.generator and row.scored)
    between = _differ_in_group(
        whole, lambda row: (row.item, row.part, row.judge, row.generator), lambda row: (row.ledger, row.bundle)
    )
    sentence = "one judge's score of one answer stands in several files"
    yield from _finding("rows_repeated_between_files", sentence, between, len(everything))
    texts = Counter(row.text for row in everything if row.text)
    copied = [row for row in everything if row.text and texts[row.text] > 1]
    yield from _finding("row_texts_repeated", "rows are the same to the character", copied, len(everything))


def by_reason(everything: list[StudyRecord]) -> Iterator[StudyFinding]:
    """Reasons that screening gave to single records, counted over the study."""
    for code, sentence in _REASONS.items():
        concerned = [row for row in everything if code in row.codes]
        yield from _finding(code, sentence, concerned, len(everything))


_REASONS = {
    "self_judging_unlabelled": "the judge is the generator, and nothing says so",
    "score_not_allowed": "a score is outside the scale",
    "row_unreadable": "a row cannot be read",
    "judge_failed": "the judge gave no verdict",
}


def verdicts_without_a_call(everything: list[StudyRecord]) -> Iterator[StudyFinding]:
    """Scores of which no judge is recorded, or no reply where the other rows of the file have one."""
    scored = [row for row in everything if row.scored]
    unsigned = [row for row in scored if not row.judge]
    yield from _finding("verdict_without_judge", "a score is there, and no judge is recorded", unsigned, len(scored))
    replies = Counter((row.ledger, row.bundle) for row in scored if row.replied)
    silent = [row for row in scored if not row.replied and replies[row.ledger, row.bundle]]
    sentence = "a score is there without the judge's reply, which other rows of the file have"
    yield from _finding("verdict_without_reply", sentence, silent, len(scored))


def find_missing_rows(everything: list[StudyRecord]) -> Iterator[StudyFinding]:
    """Items that some generators or judges of the study have rows for and others lack.

    A row whose own names are in doubt is no evidence that another generator or judge took part.
    """
    doubtful = {row.record_id for rows in _in_wrong_folders(everything).values() for row in rows}
    have: dict[tuple[str, str], dict[str, StudyRecord]] = defaultdict(dict)
    for row in everything:
        if row.record_id in doubtful or "manifest_contradiction" in row.codes:
            continue
        if row.item and row.judge and row.generator:
            have[row.judge, row.generator].setdefault(row.item, row)
    items = {item for group in have.values() for item in group}
    lacking = [(judge, generator, item) for (judge, generator), group in have.items() for item in items - group.keys()]
    if lacking:
        examples = [f"{item}: no row of {judge} on {generator}" for judge, generator, item in sorted(lacking)[:_SHOWN]]
        yield StudyFinding(
            "rows_missing", len(lacking), len(items) * len(have), "an item has rows elsewhere and none here", examples
        )


def two_spellings(everything: list[StudyRecord]) -> Iterator[StudyFinding]:
    """Scores of one dimension and metric of a file that are written in several ways."""
    ways: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    written = []
    for row in everything:
        metric = "/".join(part for part in row.part.split("/") if not part.startswith(("turn=", "epoch=", "repeat=")))
        for name, how in row.spellings:
            key = (str(row.ledger), row.bundle, metric, name)
            ways[key][how] += 1
            written.append((row, key, how))
    odd = {row for row, key, how in written if len(ways[key]) > 1 and how != ways[key].most_common(1)[0][0]}
    sentence = "a score is written otherwise than the others of its file"
    yield from _finding("two_spellings_of_a_scale", sentence, odd, len(everything))


CHECKS = (
    same_answer_for_two_generators,
    answer_of_another_item,
    names_that_contradict,
    find_repeated_rows,
    by_reason,
    verdicts_without_a_call,
    find_missing_rows,
    two_spellings,
)
