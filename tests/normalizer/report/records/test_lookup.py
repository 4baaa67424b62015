"""The engine finds the records behind a number: those that the plain definition of the number names."""

import json
from collections import defaultdict
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from normalizer.aggregate.summary import Options
from normalizer.cli import main
from normalizer.report.comparison_study import gather_any
from normalizer.report.records.lookup import ADMITTED
from normalizer.report.study import ReportOptions
from tests.support.bundles import DIMENSIONS, bundle, entry

JUDGES = ("j", "k", "g")
RUN = st.fixed_dictionaries(
    {
        "judge_model": st.sampled_from(JUDGES),
        "generator_model": st.sampled_from(("g", "h")),
        "lang": st.sampled_from(("de", "en")),
        "files": st.lists(st.sampled_from("abc"), min_size=1, max_size=3, unique=True),
        "score": st.sampled_from((0, 1, 2, 7)),
    }
)


def written(folder: Path, runs: list[dict[str, Any]]) -> Path:
    """A ledger of runs; a score of 7 is off the scale, so that its records are INVALID."""
    paths = []
    for number, run in enumerate(runs):
        entries = [entry(run["lang"] + name, scores=dict.fromkeys(DIMENSIONS, run["score"])) for name in run["files"]]
        about = {key: run[key] for key in ("judge_model", "generator_model")}
        own = {"self_judged": True} if run["judge_model"] == run["generator_model"] else {}
        paths.append(folder / f"{number}.json")
        factors = {"lang": run["lang"]}
        paths[-1].write_text(json.dumps(bundle(*entries, run_id=f"r{number}", factors=factors, **about, **own)))
    assert main(["normalize", *map(str, paths), "--out", str(folder / "ledger")]) in (0, 1)
    return folder / "ledger"


def plain_contrast(records, key, levels, paired_by):
    """The records of two levels, in the blocks where a judge has both and judges itself in neither."""
    blocks: dict[Any, Any] = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for each in records:
        blocks[tuple(each[name] for name in paired_by)][each["judge"]][each[key]].append(each)
    found = []
    for judges in blocks.values():
        both = [[cells[level] for level in levels] for cells in judges.values() if cells.keys() >= set(levels)]
        if any(not any(all(each["self"] for each in side) for side in sides) for sides in both):
            found += [each["number"] for sides in both for side in sides for each in side]
    return sorted(found)


def plain_own(records, judge, own):
    """The records of a judge and of judges that are not the author, on answers that both judged."""
    mine = {each["answer"] for each in records if each["judge"] == judge and bool(each["self"]) == own}
    crossed = [each for each in records if each["judge"] != judge and not each["self"] and each["answer"] in mine]
    met = {each["answer"] for each in crossed}
    return sorted(
        [each["number"] for each in crossed]
        + [each["number"] for each in records if each["judge"] == judge and each["answer"] in mine & met]
    )


@settings(max_examples=15, deadline=None)
@given(st.lists(RUN, min_size=2, max_size=8))
def test_numbers_are_made_of_the_records_that_their_definitions_name(runs):
    if all(run["score"] == 7 for run in runs):
        runs = [{**runs[0], "score": 1}, *runs[1:]]
    with TemporaryDirectory() as scratch:
        folder = written(Path(scratch), runs)
        with gather_any((folder,), Options(by=("generator_model",)), ReportOptions()) as study:
            lookup, table = study.lookup, study.lookup.table
            columns = "number, judge, generator, artifact, self, factors['lang'], k0"
            rows = table.engine.rows(f"SELECT {columns} FROM {table.name} WHERE {ADMITTED}")
            names = ("number", "judge", "generator", "artifact", "self", "lang", "level")
            records = [dict(zip(names, row, strict=True)) for row in rows]
            for each in records:
                each["answer"] = each["artifact"], each["generator"]
            judged = {
                judge: {each["answer"] for each in records if each["judge"] == judge} for judge in (*JUDGES, "nobody")
            }
            checks: dict[Any, Any] = {}
            for one, other in combinations(sorted(judged), 2):
                shared = judged[one] & judged[other]
                checks[lookup.pair(one, other)] = [
                    each["number"] for each in records if each["judge"] in (one, other) and each["answer"] in shared
                ]
            several = [each for each in records if sum(each["answer"] in answers for answers in judged.values()) > 1]
            checks[lookup.find_shared()] = [each["number"] for each in several]
            for judge in judged:
                checks[lookup.by_judge(judge)] = [each["number"] for each in records if each["judge"] == judge]
                for own in (True, False):
                    checks[lookup.own(judge, own)] = plain_own(records, judge, own)
                both = {*plain_own(records, judge, True), *plain_own(records, judge, False)}
                checks[lookup.own(judge, True, False)] = both
                for level in ("g", "h"):
                    others = [each for each in records if each["level"] == level and each["judge"] != judge]
                    checks[lookup.without((level,), judge)] = [each["number"] for each in others]
            for key, name, levels in (
                ("generator_model", "generator", ["g", "h"]),
                ("factors.lang", "lang", ["de", "en"]),
            ):
                for paired in (["artifact"], ["rubric"]):
                    expected = plain_contrast([{**each, "rubric": 0} for each in records], name, levels, paired)
                    checks[lookup.contrast(key, levels, paired)] = expected
    for found, expected in checks.items():
        assert sorted(found.shown) == sorted(expected)
        assert found.count == len(found.shown)
