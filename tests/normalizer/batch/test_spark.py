"""Spark gives the same bytes as DuckDB, and writes the same ledger as processes do. It runs here on this machine."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from normalizer.cli import main
from tests.normalizer.aggregate.test_summary import RUBRIC, odd_entry
from tests.support.bundles import bundle, entry
from tests.support.lacking import IN_CI
from tests.support.studies import Verdict, bundles_of, ledger_of


def _lacking() -> str | None:
    if shutil.which("java") is None:
        return "Java is not installed"
    try:
        import pyspark  # noqa: F401 - only whether it is there
    except ImportError:
        return "the extra `spark` is not installed"
    return None


pytestmark = [
    pytest.mark.skipif(bool(_lacking()) and not IN_CI, reason=str(_lacking())),
    pytest.mark.xdist_group("spark"),  # one Java machine is enough
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

ODD = 'it\'s \\ a "name"\u202e\U0001f600\x01'


@pytest.fixture(scope="module")
def ledgers(tmp_path_factory):
    """A study with everything that could be read differently, and one on a scale of many digits."""
    plain, fine = tmp_path_factory.mktemp("plain"), tmp_path_factory.mktemp("fine")
    verdicts = [
        Verdict(
            judge, generator, f"{generator}-{number}", (number % 3, 1, place, 2, (number + place) % 3), run=f"r{place}"
        )
        for place, judge in enumerate(("g1", "j1", ODD))
        for generator in ("g1", "g2")
        for number in range(place, 7)
    ]
    verdicts += [Verdict("j1", "g2", "g2-1", (2, 2, 2, 2, 2), run="again"), Verdict("j1", "g2", "t", (0,) * 5, phase=0)]
    spelled = json.dumps(bundle(entry("g2-2"), judge_model="j1", generator_model="g2", run_id="odd")).replace(
        '": 1', '": 1.0e0'
    )
    lost = bundle(entry("x", surplus=1), judge_model="j1", generator_model="g2")
    text = '{"protocol_version":"p","judge_model":"%s","generator_model":"g","phase":1,"per_file_scores":[%s]}'
    entries = [
        odd_entry(file, fine_, "0.10", "0.5", label)
        for file, fine_, label in (("a", "999999999999.123456789012", "fail's"), ("b", "-1e-12", "pa\\ss"))
    ]
    digits = [text % (judge, ",".join(entries)) for judge in ("j1", "j2")]
    short = json.loads(json.dumps(RUBRIC))
    short["dimensions"]["fine"]["scale"].update(minimum=-100, maximum=100)
    labels = [text % ("j", ",".join([odd_entry("a", "99.123456789012", "-0.07", "5e-1", "fail's")]))]
    return (
        ledger_of(plain, [*bundles_of(verdicts), spelled, lost]),
        ledger_of(fine, digits, rubric=RUBRIC),
        ledger_of(tmp_path_factory.mktemp("labels"), labels, rubric=short),
    )


def both(capsys, *arguments: str) -> str:
    said: list[str] = []
    for engine in ("duckdb", "spark"):
        capsys.readouterr()
        assert main([*arguments, "--engine", engine, "--format", "json"]) == 0
        said.append(capsys.readouterr().out)
    assert said[0] == said[1]
    return said[1]


def test_tables_are_the_same_bytes(ledgers, capsys):
    plain, fine, labels = map(str, ledgers)
    options = ["--by", "judge_model,generator_model", "--cluster", "generator_model"]
    summary = json.loads(both(capsys, "aggregate", plain, *options))
    assert {"judge_model": ODD, "generator_model": "g2"} in [row["key"] for row in summary["rows"]]
    both(capsys, "aggregate", plain, "--unit", "record", "--by", "factors.question", "--where", f"judge_model={ODD}")
    summary = json.loads(both(capsys, "aggregate", fine))
    assert summary["rows"][0]["dimensions"]["fine"]["max"] == 999999999999.123457
    assert json.loads(both(capsys, "aggregate", labels))["rows"][0]["total"]["mean"] == 99.803457


def test_labels_of_a_judge_are_summed_beyond_64_bits(tmp_path, capsys):
    rubric = {"name": "long", "dimensions": {"d": {"scale": {"kind": "range", "minimum": 0, "maximum": 10**6}}}}
    repeats = [bundle({"file": "a", "scores": {"d": 10**6}}, run_id=f"r{number}") for number in range(20)]
    summary = json.loads(both(capsys, "aggregate", str(ledger_of(tmp_path, repeats, rubric=rubric))))
    assert summary["rows"][0]["total"]["mean"] == 10**6


def test_agreement_is_the_same_bytes(ledgers, capsys):
    assert len(json.loads(both(capsys, "agreement", str(ledgers[0])))["pairs"]) == 3


def test_differences_of_levels_are_the_same_bytes(ledgers, capsys):
    plain, fine, _ = map(str, ledgers)
    by_question = ["--by", "generator_model", "--pair-by", "factors.question,phase"]
    found = [
        json.loads(both(capsys, "compare", *given)) for given in ([plain, *by_question], [fine, "--by", "judge_model"])
    ]
    assert [document["contrasts"][0]["n"] for document in found] == [1, 2]


def test_sensitivity_is_the_same_bytes(ledgers, capsys):
    summary = json.loads(both(capsys, "aggregate", str(ledgers[0]), "--by", "generator_model", "--sensitivity"))
    assert summary["sensitivity"]["leave_one_judge_out"]


def test_a_ledger_that_two_have_is_counted_once(ledgers, tmp_path, capsys):
    copy = tmp_path / "a copy [of] {it,*}'?"
    shutil.copytree(ledgers[0], copy)
    summary = json.loads(both(capsys, "aggregate", str(ledgers[0]), str(copy)))
    assert summary["left_out"]["duplicate"] == summary["records"] / 2


def test_normalizing_on_spark_writes_the_same_ledger(ledgers, tmp_path):
    bundles = Path(ledgers[0]).parent / "bundles-0"
    (bundles / "fenced.json").write_text("```json\n{}\n```")
    for engine in ("processes", "spark"):
        assert main(["normalize", str(bundles), "--out", str(tmp_path / engine), "--engine", engine]) == 1
    found = [
        {
            path.relative_to(tmp_path / engine).as_posix(): path.read_bytes()
            for path in (tmp_path / engine).rglob("*.json*")
        }
        for engine in ("processes", "spark")
    ]
    assert found[0] == found[1]
    assert found[0]["records.jsonl"]


def test_a_java_that_does_not_start_is_told_in_one_sentence(ledgers, tmp_path):
    command = [sys.executable, "-m", "normalizer", "aggregate", str(ledgers[0]), "--engine", "spark"]
    environment = {**os.environ, "JAVA_HOME": str(tmp_path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.splitlines()[-1].startswith("normalizer: Spark does not start: ")
    assert "Traceback" not in done.stderr
