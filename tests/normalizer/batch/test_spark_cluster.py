"""On a Spark cluster of two workers everything has the bytes that it has without, and the driver gets no records."""

import json
import subprocess
import sys
from itertools import combinations, product
from pathlib import Path

import pytest

from normalizer.cli import main
from tests.normalizer.batch.test_spark import pytestmark as needs_spark
from tests.support.comparing import compared
from tests.support.patience import PATIENCE
from tests.support.studies import Verdict, bundles_of

pytestmark = needs_spark

DRIVER = """
import json, sys
from pathlib import Path
from pyspark.sql import SparkSession
from normalizer.batch.spark import session
from normalizer.cli import main

spark = session(quick=True)
for number, command in enumerate(json.loads(sys.argv[1])):
    spark.sparkContext.setJobDescription(f"{number}")
    with open(f"{sys.argv[2]}/{number}.out", "w") as sys.stdout:
        status = main([*command, "--engine", "spark"])
    assert status == 0, command
spark.stop()
"""


def write_bundles(folder: Path, items: int) -> list[str]:
    """A study of two judges and two generators."""
    folder.mkdir()
    verdicts = [
        Verdict(judge, generator, f"{generator}-{number}", (number % 3, place, 1, 2, (number + place) % 3), run=run)
        for place, judge in enumerate(("j1", "j2"))
        for generator in ("g1", "g2")
        for number in range(items)
        for run in (f"r{number % 4}",)
    ]
    for number, document in enumerate(bundles_of(verdicts)):
        (folder / f"{number}.json").write_text(json.dumps(document))
    return sorted(map(str, folder.glob("*.json")))


def compare_often(folder: Path, name: str, repeats: int) -> str:
    """A ledger in which a judge compares three generators on six items, in both orders, so many times."""
    verdicts = ("a", "b", "draw", "a", None, 1.25)
    entries = [
        {"item": f"q{item}", "a": a, "b": b, "order": order, "repeat": repeat, "verdict": verdicts[place % 6]}
        for place, (item, (a, b), order, repeat) in enumerate(
            product(range(6), combinations(("x", "y", "z"), 2), ("ab", "ba"), range(repeats))
        )
    ]
    return str(compared(folder, entries, name))


def files_of(ledger: Path) -> dict[str, bytes]:
    return {str(path.relative_to(ledger)): path.read_bytes() for path in ledger.rglob("*") if path.is_file()}


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_cluster_gives_the_same_bytes_and_its_driver_gets_no_records(tmp_path, capsys):
    from tests.support.spark_cluster import stages, started

    small, large = write_bundles(tmp_path / "small", 8), write_bundles(tmp_path / "large", 160)
    many = write_bundles(tmp_path / "many", 3000)
    capsys.readouterr()
    for name, bundles in (("small", small), ("large", large), ("many", many)):
        assert main(["normalize", *bundles, "--out", str(tmp_path / f"plain-{name}")]) == 0
    ledger, larger = str(tmp_path / "plain-small"), str(tmp_path / "plain-large")
    by = ["--by", "judge_model,generator_model", "--format", "json"]
    printed = [
        ["aggregate", ledger, *by],
        ["aggregate", larger, *by],
        ["agreement", ledger, "--format", "json"],
        ["gate", ledger, ledger, "--where", "generator_model=g1", "--allow-undecided", "--format", "json"],
        ["preferences", compare_often(tmp_path, "seldom", 7), "--format", "json"],
        ["preferences", compare_often(tmp_path, "often", 140), "--format", "json"],
    ]
    written = [["export", larger, "--to", form] for form in ("jsonl", "csv", "parquet")]
    commands = [
        *printed,
        *([*command, "--out", str(tmp_path / f"spark.{command[-1]}")] for command in written),
        ["normalize", *many, "--out", str(tmp_path / "on-cluster")],
    ]
    events = tmp_path / "events"
    events.mkdir()
    with started(events) as cluster:
        program = [sys.executable, "-c", DRIVER, json.dumps(commands), str(tmp_path)]
        done = subprocess.run(program, env=cluster.environment(), capture_output=True, text=True, timeout=3 * PATIENCE)
    assert done.returncode == 0, done.stderr[-3000:]

    for number, command in enumerate(printed):
        capsys.readouterr()
        assert main(command) == 0
        assert (tmp_path / f"{number}.out").read_text() == capsys.readouterr().out
    for command in written:
        plain = tmp_path / f"plain.{command[-1]}"
        assert main([*command, "--out", str(plain)]) == 0
        assert (tmp_path / f"spark.{command[-1]}").read_bytes() == plain.read_bytes()
    assert files_of(tmp_path / "on-cluster") == files_of(tmp_path / "plain-many")
    assert len(list((tmp_path / "on-cluster").glob("records-?.jsonl"))) > 4

    found, executors = stages(events)
    assert len(executors) == 2
    read = {name: sum(stage.read for stage in each.values()) for name, each in found.items()}
    told = {name: sum(stage.result for stage in each.values()) for name, each in found.items()}
    assert read["1"] > 5 * read["0"]  # executors read the ledger, twenty times as long, and what is kept of it
    assert told["1"] < 1.2 * told["0"]  # and what they tell the driver does not grow with it
    assert read["5"] > 5 * read["4"]
    assert told["5"] < 1.2 * told["4"]
    for number in range(len(printed), len(commands)):
        tasks = sum(stage.tasks for stage in found[str(number)].values())
        assert told[str(number)] < 4000 * tasks
