"""The engine says which records a number is made of. Compared with the rules as `Rules` and `is_selected` apply them to
one record, and with the counts of the table itself."""

import json
from collections import Counter, defaultdict

import pytest

from normalizer.aggregate.eligibility import Kind, Levels, Rules
from normalizer.aggregate.groups import is_selected
from normalizer.aggregate.keys import level_in, where_of
from normalizer.aggregate.record_list import list_records
from normalizer.aggregate.restated_scores import scores_of
from normalizer.aggregate.summary import Options, open_on_engine, query_of, summarize
from normalizer.cli import main
from normalizer.documents.lossless import loads_plain
from normalizer.documents.protocol import is_self_judged
from normalizer.errors import CannotRun
from normalizer.ledger.line_format import id_of
from tests.support.bundles import DIMENSIONS, bundle, entry
from tests.support.studies import ledger_of

OPTIONS = {
    "all": Options(rules=Rules(mix=frozenset(("phase", "protocol_version")))),
    "by generator": Options(by=("generator_model",), where={"phase": 1}),
    "by judge and factor": Options(by=("judge_model", "factors.length"), where={"phase": 1}),
    "diagnostic": Options(by=("phase",), rules=Rules(diagnostic=True)),
    "people too": Options(where={"phase": 1}, rules=Rules(judge_kinds=frozenset(("model", "human")))),
    "no such judge": Options(where={"judge_model": None, "phase": 1}),
}


@pytest.fixture(scope="module")
def ledger(tmp_path_factory):
    own = {"judge_model": "m1", "generator_model": "m1", "self_judged": True}
    off = entry("c", scores=dict.fromkeys(DIMENSIONS, 7))
    folder = tmp_path_factory.mktemp("listed")
    made = ledger_of(
        folder,
        [
            bundle(entry("a"), entry("b"), generator_model="m1", factors={"length": "short"}, run_id="1"),
            bundle(entry("a"), generator_model="m2", factors={"length": "long"}, run_id="2"),
            bundle(entry("a"), entry("b"), **own, run_id="3"),
            bundle(entry("d"), generator_model="m1", judge_model="m1", self_judged=True, run_id="4"),
            bundle(entry("a"), generator_model="m3", judge_model="m3", self_judged=True, run_id="5"),
            bundle(entry("a"), phase=0, run_id="6"),
            bundle(entry("a"), phase=2, judge_prompt_version="v2", run_id="7"),
            bundle(entry("a"), judge_model="anna", judge_kind="human", run_id="8"),
            bundle(off, run_id="9"),
        ],
    )
    assert main(["list", str(made)]) == 0
    return made


def plain_statuses(given, options, rubric):
    """What becomes of every VALID record, one after the other, by id."""
    statuses, kinds = {}, {}
    groups: dict[Levels, Counter[Kind]] = defaultdict(Counter)
    for part in given.parts:
        for line in part.ledger.lines("records"):
            record, plain = part.ledger.exact("records", line), loads_plain(line)
            kind = Kind(
                int(plain["phase"]),
                plain.get("protocol_version"),
                is_self_judged(plain),
                scores_of(record, rubric) is None,
                plain.get("judge_kind", "model"),
                plain.get("leg"),
            )
            selected = is_selected(plain, options.where)
            status = (options.rules.refusal(kind) or "counted") if selected else "not_selected"
            levels = tuple(level_in(plain, name) for name in options.by)
            statuses[id_of(line)], kinds[id_of(line)] = (status, levels), kind
            groups[levels][kind] += status == "counted"
    alone = {levels for levels, found in groups.items() if options.rules.only_self_judged(+found)}
    return {
        record_id: ("self_judged" if status == "counted" and levels in alone else status, levels, kinds[record_id])
        for record_id, (status, levels) in statuses.items()
    }


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_the_engine_and_the_rules_say_the_same_of_every_record(ledger, options):
    with open_on_engine((ledger,), options) as (engine, given):
        query = query_of(given, options)
        listed = list(list_records(engine, query, given, options.rules))
        assert {one.id: (one.status, one.levels, one.kind) for one in listed} == plain_statuses(
            given, options, query.rubric
        )
        assert len(listed) == len({one.id for one in listed}) == given.valid
        summary = summarize(engine, given, options)
    counted = Counter(one.levels for one in listed if one.status == "counted")
    assert {tuple(row["key"].values()): row["n_records"] for row in summary["rows"] if row["n_records"]} == counted
    told = {name: summary["left_out"].get(name, 0) for name in ("diagnostic", "off_scale", "self_judged")}
    assert told == {name: sum(one.status == name for one in listed) for name in told}


def test_values_are_exact(ledger):
    with open_on_engine((ledger,), OPTIONS["all"]) as (engine, given):
        query = query_of(given, OPTIONS["all"])
        worths = {one.id: one.worths for one in list_records(engine, query, given, Rules())}
        for line in given.parts[0].ledger.lines("records"):
            scores = scores_of(given.parts[0].ledger.exact("records", line), query.rubric)
            found = worths[id_of(line)]
            assert found == (None if scores is None else {name: int(score) for name, score in scores.items()})


def test_an_unknown_dimension_is_refused(ledger):
    options = Options(where={"dimension": "none"})
    with open_on_engine((ledger,), options) as (_, given), pytest.raises(CannotRun, match="no dimension none"):
        query_of(given, options)


@pytest.mark.parametrize("where", [["phase=1"], ["generator_model=m1", "phase=1"], ["generator_model=m3", "phase=1"]])
def test_list_shows_the_records_behind_one_number(ledger, capsys, where):
    asked = [part for one in where for part in ("--where", one)]
    assert main(["aggregate", str(ledger), *asked, "--format", "json"]) == 0
    [row] = json.loads(capsys.readouterr().out)["rows"]
    assert main(["list", str(ledger), "--counted", *asked, "--format", "json"]) == 0
    listed = [json.loads(line)["id"] for line in capsys.readouterr().out.splitlines()]
    assert len(listed) == row["n_records"]
    options = Options(where=where_of(tuple(where)))
    with open_on_engine((ledger,), options) as (_, given):
        plain = plain_statuses(given, options, query_of(given, options).rubric)
    assert listed == [record_id for record_id, (status, *_) in plain.items() if status == "counted"]


def test_list_refuses_a_selection_of_nothing_that_is_counted(ledger, capsys):
    assert main(["list", str(ledger), "--where", "phase=1"]) == 2
    assert "--where chooses a number, whose records --counted lists: give both" in capsys.readouterr().err
