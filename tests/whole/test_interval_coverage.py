"""Simulated coverage: every question of the tool stands in a table of the docs, and the tool tells right from wrong."""

import json
import random
import re

import pytest

from tests.support.doc_pages import ROOT
from tools.interval_coverage import Held, Study, holds, intervals
from tools.interval_coverage.__main__ import STUDIES, row_of, simulate

QUESTIONS = {name: nominal for study in STUDIES for name, nominal in study.questions.items()}
ROW = r"^(\| (.+?) \| (.+?) \| (?:\*\*)?([\d.]+) %(?:\*\*)? \| [\d.]+ \| (\d+) \| (.+?) \| (.+?) \|)$"
PRINTED = json.loads((ROOT / "tools/interval_coverage/printed_numbers.json").read_text(encoding="utf-8"))
INTERVAL = re.compile(r"(^|_)(ci95|exact95|bootstrap95|ci95_over_judges)$")
NO_KNOWN = ("rank by ", "recipe alpaca-eval-lc, ", "recipe arena-hard-style, ", "kappa, ")
"""Rows without a width by a known method: ranks, fitted scores, and kappa where all resamples must be defined."""
RARE_LOSSES = {
    "difference of totals, 20 items, a loss of 8 in 5 %, spread",
    "difference of totals, 30 items, all lost in 5 %, spread",
    "difference of totals, 12 items, a loss of 9 in 10 %, spread",
    "severity of a judge that errs by 6 in 5 %, 20 artifacts",
}
"""Where the assumption is not true that the spread seen is the spread there is."""
FEWEST = "kappa, 5 items"
"""The fewest items that have an interval at all."""
PAGES = ("explanation/aggregation", "guides/calibration", "guides/gate", "guides/preferences")


def told() -> dict[str, tuple[str, float]]:
    """Nominal and observed share of every row of the pages' tables."""
    found = {}
    for page in PAGES:
        text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
        for row, name, nominal, observed, runs, *more in re.findall(ROW, text, re.MULTILINE):
            found[name] = (nominal, float(observed))
            yes = round(float(observed) * int(runs) / 100)
            assert row_of(name, nominal, yes, int(runs), (more[0], more[1])) == row
            if nominal == "95 %" and not name.startswith(NO_KNOWN):
                assert "-" not in more, name
    return found


def printed_members() -> set[str]:
    """Every interval and p-value of the documents that commands print, by schema and definition."""
    found = set()
    for path in sorted((ROOT / "spec/schemas/eval").glob("*.json")):
        schema = json.loads(path.read_text(encoding="utf-8"))
        for definition, part in schema.get("$defs", {}).items():
            for name, each in part.get("properties", {}).items():
                is_range = name == "interval" and "type" not in each
                if INTERVAL.search(name) or is_range or name in ("p", "p_holm", "ranks") or name.endswith("_safe"):
                    found.add(f"{path.stem}#{definition}/{name}")
    return found


def test_every_printed_interval_and_p_value_is_attacked_by_a_design_and_checked_by_a_referee():
    listed = [member for row in PRINTED.values() for member in row["members"]]
    assert {member for member in listed if not member.startswith("report: ")} == printed_members()
    assert len(listed) == len(set(listed))
    for number, row in PRINTED.items():
        assert (ROOT / row["module"]).is_file(), number
        assert row["designs"], number
        for design in row["designs"]:
            assert any(name.startswith(design) for name in QUESTIONS), (number, design)
        for referee in row["referee"] or [number]:
            path, _, test = referee.partition("::")
            assert f"def {test}(" in (ROOT / path).read_text(encoding="utf-8"), referee


def test_every_simulated_question_belongs_to_a_printed_number():
    designs = tuple(design for row in PRINTED.values() for design in row["designs"])
    others = [name for name in QUESTIONS if not name.startswith(designs)]
    assert [name for name in others if " mae " not in name] == []


def test_the_docs_tell_the_observed_share_of_every_question():
    assert {name: nominal for name, (nominal, _) in told().items()} == QUESTIONS


def test_no_interval_of_the_docs_covers_much_less_often_than_it_says():
    """Where one does, the text below the table says so."""
    low = {name for name, (nominal, observed) in told().items() if nominal == "95 %" and observed < 92.5}
    assert {name for name in low if "rarest" not in name} == RARE_LOSSES | {FEWEST}


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: next(iter(study.questions)))
def test_every_study_runs_and_answers_its_questions(study):
    for run in range(2):
        answers = study.draw(random.Random(run))
        assert answers.keys() == study.questions.keys()
        assert {type(answer) for answer in answers.values()} <= {bool, Held, type(None)}


def test_an_interval_that_is_too_narrow_is_found_out():
    def study(half: float) -> Study:
        return intervals(["z"], lambda rng: {"z": holds([(z := rng.gauss(0, 1)) - half, z + half], 0.0)})

    right, narrow = (simulate(study(half), 2000, 1)["z"] for half in (1.96, 1.6))
    assert abs(right.yes / right.of - 0.95) < 0.015
    assert narrow.yes / narrow.of < 0.92
    assert simulate(Study({"z": "95 %"}, lambda rng: {"z": None}), 5, 1)["z"].of == 0


def test_the_best_known_method_is_the_narrowest_that_keeps_the_promise_or_else_the_usual_one():
    def study(*halves: float) -> Study:
        def draw(rng: random.Random) -> dict[str, Held | None]:
            z = rng.gauss(0, 1)
            return {"z": holds([z - 9, z + 9], 0.0, {f"z {half:g}": (z - half, z + half) for half in halves})}

        return Study({"z": "95 %"}, draw)

    wide, narrow = (simulate(study(*halves), 500, 1)["z"] for halves in ((1, 3, 2), (1, 0.5)))
    assert (wide.tell_width(), wide.tell_best().split(" (")[0]) == ("18", "z 2 4")
    assert narrow.tell_best().split(" (")[0] == "z 1 2"
