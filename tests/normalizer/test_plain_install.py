"""Commands without the extras: each gives its answer, or says which extra it needs."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "docs" / "example-calibration"
EXTRAS = ("altair", "duckdb", "httpx", "numpy", "pyarrow", "pypdf", "pyspark", "scipy", "vl_convert", "zstandard")
PLAIN = f"""
import sys
sys.modules.update(dict.fromkeys({EXTRAS}))  # None: as if it were not installed
from normalizer.cli import main
sys.exit(main(sys.argv[1:]))
"""


def run(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-c", PLAIN, *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture(scope="module")
def ledger(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plain")
    assert run("normalize", EXAMPLE / "judge-larch-1.json", "--out", "ledger", cwd=folder).returncode == 0
    assert run("normalize", EXAMPLE / "people-anna.json", "--out", "people", cwd=folder).returncode == 0
    return folder / "ledger"


@pytest.mark.parametrize(
    "command",
    [
        "list ledger",
        "audit ledger",
        "repair ledger",
        "export ledger --to jsonl --out records.jsonl",
        "export ledger --to csv --out records.csv",
        f"guess {EXAMPLE / 'judge-larch-1.json'}",
        "dialects",
        "docs",
    ],
)
def test_what_needs_no_extra_works_without_them(ledger, command):
    done = run(*command.split(), cwd=ledger.parent)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "command",
    [
        "aggregate ledger",
        "aggregate ledger --sensitivity",
        "compare ledger people --by judge_model",
        "agreement ledger",
        "preferences ledger",
        "calibrate ledger --gold people",
        "plan ledger",
        "gate ledger people",
        "report ledger --out page.html",
        "export ledger --to parquet --out records.parquet",
    ],
)
def test_what_needs_an_extra_names_it(ledger, command):
    done = run(*command.split(), cwd=ledger.parent)
    assert done.returncode == 2
    assert done.stderr.startswith("normalizer: "), done.stderr
    assert " needs " in done.stderr or "holds single scores" in done.stderr
