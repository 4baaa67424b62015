"""Names that tables have words for: what a table says of them can be read back, and is not mistaken."""

import csv
import io
import itertools
import re
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from normalizer.aggregate import keys
from normalizer.aggregate.summary import Options, aggregate
from normalizer.checks.published_tables.compare import check
from normalizer.cli import main
from normalizer.tables import agreement_table, check_table, formats, summary_table
from tests.support.bundles import TEXT
from tests.support.studies import ledger_of, output

LEVELS = [
    "(none)",
    "NA",
    "",
    '"(none)"',
    '"',
    "(all)",
    " ",
    "(none) ",
    "group",
    "left_out",
    "a, b",
    "a",
    "\r",
    "1",
    "\u202ea",
    "=1+1",
    "-1",
    "-1+cmd",
    "@x",
    "\t=1",
]
DIMENSIONS = [
    "total",
    "n",
    "NA",
    "A",
    "A.mean",
    "total.mean",
    "sd",
    "flags",
    "row",
    "judge_model",
    "factors.x",
    " A",
    "A ",
]
DIMENSIONS += ['"total"', "mean", "95 % interval", "at min", "phase", "ci95", "", "=A", "+A", "-"]


def study(folder: Path, levels: list[str | None], dimensions: list[str]) -> Path:
    """A bundle for each level; its scores differ from those of every other, dimension by dimension."""
    scale = {"kind": "integers", "minimum": 0, "maximum": 999}
    rubric = {"name": "hostile", "dimensions": {name: {"scale": scale} for name in dimensions}}
    bundles = [
        {
            "protocol_version": "p",
            "judge_model": "judge",
            "generator_model": "writer",
            "phase": 1,
            **({} if level is None else {"factors": {"x": level}}),
            "per_file_scores": [
                {"file": str(item), "scores": {name: 30 * number + at + item for at, name in enumerate(dimensions)}}
                for item in range(2)
            ],
        }
        for number, level in enumerate(levels)
    ]
    return ledger_of(folder, bundles, rubric=rubric)


@settings(max_examples=25)
@given(
    # A factor that no record has is refused.
    levels=st.lists(st.sampled_from([None, *LEVELS]) | TEXT, min_size=1, max_size=5, unique=True).filter(
        lambda levels: levels != [None]
    ),
    dimensions=st.lists(st.sampled_from(DIMENSIONS) | TEXT, min_size=1, max_size=5, unique=True),
)
def test_a_table_with_any_names_is_read_back_as_what_it_says(levels, dimensions):
    with TemporaryDirectory() as scratch:
        folder = Path(scratch)
        ledger = study(folder, levels, dimensions)
        options = Options(by=("factors.x",))
        summary = aggregate((ledger,), options)
        for table in (summary_table.wide(summary), summary_table.narrow(summary)):
            (folder / "t.csv").write_text(formats.csv_text(table), encoding="utf-8", newline="")
            report = check(folder / "t.csv", (ledger,), options, {})
            assert report["missing_rows"] == []
            assert report["counts"]["match"] == len(report["cells"]) > 0, report["cells"]
            assert {cell["key"]["factors.x"] for cell in report["cells"] if cell["key"]} == set(levels)
            # And each number is that of its own dimension: with another's, it would not match.
            found = {cell["statistic"] for cell in report["cells"]}
            # For people the only dimension is not shown beside the total that it is.
            shown = dimensions if "row" in table.columns or len(dimensions) > 1 else []
            assert {f"{keys.dimension(name)}.mean" for name in shown} <= found


@pytest.mark.parametrize("form", ["text", "csv", "md", "latex"])
def test_no_two_names_look_the_same_in_a_table(form):
    given = [None, *LEVELS, "a  b", "a b", "\x00", "\x01", "[U+4E2D]", "\u4e2d", "''", "\u201d"]
    shown = [formats.write_table(formats.Table(["x"], [[keys.level(name)]], []), form) for name in given]
    for (one, first), (other, second) in itertools.combinations(zip(given, shown, strict=True), 2):
        assert first != second, (one, other)
    columns = [formats.write_table(formats.Table([keys.dimension(name)], [], []), form) for name in DIMENSIONS]
    assert len(set(columns)) == len(DIMENSIONS)


def test_no_name_and_no_quotation_is_a_formula_to_a_spreadsheet(tmp_path, capsys):
    names_given = ['=HYPERLINK("http://x.example","y")', "+1+cmd|' /C calc'!A0", "-1+1", "@SUM(1)", "\t=1", "\r=1"]
    names_given.append("\n=1")
    scale = {"kind": "integers", "minimum": 0, "maximum": 9}
    rubric = {"name": "hostile", "dimensions": {name: {"scale": scale} for name in names_given}}
    bundles = [
        {
            "protocol_version": "p",
            "judge_model": name,
            "generator_model": f"{name}+1",
            "phase": 1,
            "aggregates": {"mean": dict.fromkeys(names_given, 3)},
            "per_file_scores": [{"file": name, "scores": dict.fromkeys(names_given, 1), "evidence": {name: name}}],
        }
        for name in names_given
    ]
    ledger = str(ledger_of(tmp_path, bundles, rubric=rubric))
    by = ["--by", "judge_model,generator_model"]
    look = ["--artifacts", str(tmp_path)]
    commands = [["audit"], ["aggregate", *by], ["agreement"], ["audit", "--claims"], ["audit", *look]]
    assert main(["report", ledger, *by, *look, "--out", str(tmp_path / "r.html"), "--tables", str(tmp_path)]) == 0
    written = [path.read_bytes().decode() for path in tmp_path.glob("*.csv")]
    assert len(written) > 5
    for command in commands:
        capsys.readouterr()
        assert main([command[0], ledger, *command[1:], "--format", "csv"]) in (0, 1)
        written.append(capsys.readouterr().out)
    number = re.compile("-[0-9.]+( to -?[0-9.]+)?")
    for text in written:
        cells = [cell for row in csv.reader(io.StringIO(text, newline="")) for cell in row]
        assert [cell for cell in cells if cell[:1] in "=+-@\t\r\n" and cell and not number.fullmatch(cell)] == []


def test_a_dimension_called_total_is_told_from_the_total(tmp_path, capsys):
    ledger = study(tmp_path, ["(none)", None], ["total", "n"])
    assert main(["aggregate", str(ledger), "--by", "factors.x", "--format", "csv"]) == 0
    first, *rows = csv.reader(io.StringIO(capsys.readouterr().out))
    assert {"total.mean", '"total".mean', "n", '"n".mean'} <= set(first)
    groups = {row[1]: dict(zip(first, row, strict=True)) for row in rows if row[0] == "group"}
    assert groups["(none)"]["total.mean"] == "62"
    assert groups['"(none)"']["total.mean"] == "2"
    assert groups['"(none)"']['"total".mean'] == "0.5"


def test_contrasts_and_agreement_tell_a_dimension_called_total_from_the_total(tmp_path, capsys):
    ledger = study(tmp_path, ["a", "b"], ["total", "other"])
    contrasts = output(capsys, "compare", str(ledger), "--by", "factors.x")["contrasts"]
    assert [row["measure"] for row in contrasts] == ["total", '"total"', "other"]
    report = output(capsys, "agreement", str(ledger), "--where", "factors.x=a")
    assert [row[2] for row in agreement_table.table(report).rows] == ["total", '"total"', "other"]


def test_a_group_is_named_without_doubt_in_the_verdicts(tmp_path):
    report = {
        "cells": [
            {"line": 2, "key": {"a": first, "b": second}, "column": "n", "published": "1", "verdict": "mismatch",
             "exact": "2", "why": None}
            for first, second in [("x, y", "z"), ("x", "y, z"), (None, "z"), ("(none)", "z")]
        ],
        "counts": {"mismatch": 4}, "diagnostic": False, "missing_rows": [], "other_tables": [],
    }  # fmt: skip
    assert len({row[1] for row in check_table.table(report, everything=False).rows}) == 4
