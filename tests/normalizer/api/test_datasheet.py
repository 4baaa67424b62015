"""The datasheet of judges: what judged, gold, agreement, bias, noise and failures, the same from the command."""

import json

import pytest

import normalizer
from normalizer.cli import main
from tests.support.comparing import compared, drawn
from tests.support.labelling import bundle_of, labelled, noisy, truth


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("datasheet")
    real = truth(12, 1)
    judged = json.loads(json.dumps(bundle_of(noisy(real, 2, 0.4), "judge-a")))
    judged |= {"judge_version": "2026-03", "judge_settings": "temperature=0", "judge_prompt_sha256": "ab" * 32}
    labelled(folder, "judges", judged)
    labelled(folder, "people", {**bundle_of(real, "anna"), "judge_kind": "human"})
    return folder


def test_a_datasheet_says_what_judged_and_how_well(study, tmp_path):
    judges, people = normalizer.open(study / "judges"), normalizer.open(study / "people")
    page = judges.datasheet(people)
    for said in ("# Datasheet: judge-a", "2026-03", "temperature=0", "abababababab", "## Judges against gold",
                 "## Bias by gold level", "## Noise", "failure rate"):  # fmt: skip
        assert said in page
    out = tmp_path / "judge.md"
    flags = ("--gold", str(study / "people"), "--datasheet", str(out))
    assert main(["calibrate", str(study / "judges"), *flags]) == 0
    assert out.read_text() == page
    [instrument] = judges.instruments()
    assert (instrument["judge_version"], instrument["prompt_sha256"]) == ("2026-03", "ab" * 32)


def test_a_datasheet_of_comparisons_has_the_order_shown(tmp_path):
    entries = drawn({"a": 0.0, "b": 0.8}, 12, 3, first=0.5)
    judges = compared(tmp_path, entries, "judges")
    people = compared(tmp_path, drawn({"a": 0.0, "b": 0.8}, 12, 4), "people", judge_model="anna", judge_kind="human")
    page = normalizer.open(judges).datasheet(normalizer.open(people))
    assert "## Order shown" in page
    assert "## Verdicts in both orders" in page


def test_a_row_that_mixes_instruments_of_one_judge_says_so(tmp_path):
    real = truth(6, 1)
    runs = [{**bundle_of(noisy(real, seed, 0.4), "judge-a"), "judge_version": f"v{seed}"} for seed in (1, 2)]
    ledger = normalizer.open(labelled(tmp_path, "ledger", *runs))
    [row] = ledger.summary().rows
    assert "mixed_instruments" in [str(getattr(flag, "value", flag)) for flag in row.flags]
    for row in ledger.summary(by=["judge_version"]).rows:
        assert "mixed_instruments" not in [str(getattr(flag, "value", flag)) for flag in row.flags]


def spell(flags):
    return [str(getattr(flag, "value", flag)) for flag in flags]


def test_agreement_and_contrasts_say_that_they_mix_instruments(tmp_path, capsys):
    real = truth(6, 1)
    runs = [
        {
            **bundle_of(noisy(real, 3 * number, 0.4), judge),
            "judge_version": f"v{number}",
            "generator_model": f"g{number}",
        }
        for number in (1, 2)
        for judge in ("judge-a", "judge-b")
    ]
    mixed = labelled(tmp_path, "mixed", *runs)
    for document in (normalizer.open(mixed).agreement(), normalizer.open(mixed).compare()):
        assert "mixed_instruments" in spell(document.flags)
    assert main(["compare", str(mixed)]) in (0, 1)
    assert "MIXED: one judge has records by different prompts" in capsys.readouterr().out
    assert main(["agreement", str(mixed), "--where", "judge_version=v1"]) == 0
    assert "MIXED" not in capsys.readouterr().out
    by_version = normalizer.open(mixed).compare(by="judge_version")
    assert "mixed_instruments" not in spell(by_version.flags), "instruments that are compared are not mixed"
