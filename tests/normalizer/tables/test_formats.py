"""Tables hold whatever a bundle says, and every reader of their formats gets it back as text."""

import csv
import io
import json
import subprocess
from decimal import Decimal

import pytest

from normalizer.aggregate import keys
from normalizer.cli import main
from normalizer.tables import formats
from normalizer.tables.agreement_table import round_for_people
from normalizer.tables.formats import Cell, Table, p_value, tell_range, write_table
from tests.support.bundles import bundle, entry
from tests.support.lacking import needs

HOSTILE = ["[2pt]", "*", "[", "a\rb", "a\nb", 'a"b', "a,b", "\r", "-", "`", "\\", "{}", "\x1b[31mred", "\u4e2d"]
HOSTILE += ["&_$%#^~|<>", "=1+1"]


def test_csv_gives_every_string_back():
    rows: list[list[Cell]] = [[text, 1] for text in HOSTILE]
    read = list(csv.reader(io.StringIO(formats.csv_text(Table(["name", "n"], rows, [])), newline="")))
    assert read == [["name", "n"], *([text, "1"] for text in HOSTILE)]


@pytest.mark.parametrize("argv", [["audit"], ["aggregate", "--by", "judge_model"]])
def test_the_csv_of_a_command_gives_every_name_back(tmp_path, capsys, argv):
    for number, name in enumerate(HOSTILE):
        (tmp_path / f"{number}.json").write_text(json.dumps(bundle(entry("a"), judge_model=name)))
    assert main(["normalize", str(tmp_path), "--out", str(tmp_path / "l")]) == 0
    capsys.readouterr()
    assert main([argv[0], str(tmp_path / "l"), *argv[1:], "--format", "csv"]) == 0
    read = list(csv.reader(io.StringIO(capsys.readouterr().out, newline="")))
    assert len({len(row) for row in read}) == 1
    assert {keys.parse_level(cell) for row in read for cell in row} >= set(HOSTILE)


@needs("pdflatex", "texlive-latex-base")
def test_latex_compiles_with_any_string_at_the_beginning_of_a_row(tmp_path):
    rows: list[list[Cell]] = [[text, 1] for text in HOSTILE]
    text = formats.latex(Table(["name", "n"], rows, HOSTILE))
    (tmp_path / "t.tex").write_text(f"\\documentclass{{article}}\\begin{{document}}\n{text}\\end{{document}}\n")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "t.tex"]
    made = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert made.returncode == 0, made.stdout.decode(errors="replace")[-800:]


@pytest.mark.parametrize("text", ["[2pt]", "*", "[", "* b"])
def test_latex_takes_no_cell_for_an_argument_of_the_row_before(text):
    rows = formats.latex(Table(["name"], [["a"], [text]], [])).splitlines()
    [at] = [number for number, row in enumerate(rows) if row == r"a \\"]
    assert rows[at + 1][0] not in "[*"


@pytest.mark.parametrize("start", ["", " ", "\u00a0", "x;", "x; ", "x,", "x|", "x\t", "\t", "\n"])
@pytest.mark.parametrize("formula", ["=1+1", "@SUM(A1)", "+cmd|' /C calc'!A0", "-2+3", "\uff1d1"])
def test_a_formula_behind_white_space_or_a_separator_stands_in_quotation_marks(start, formula):
    shown = keys.level(start + formula)
    assert shown.startswith('"')
    assert keys.parse_level(shown) == start + formula


@pytest.mark.parametrize("plain", ["-1.5", "+3", "a-b", "a=b", "x; y", "gpt-4 +tools"])
def test_ordinary_names_stand_as_they_are(plain):
    assert keys.level(plain) == plain


@pytest.mark.parametrize("form", ["text", "csv", "md", "latex"])
@pytest.mark.parametrize("name", ["::error::forged", "##[error]forged", "::warning file=x::y"])
def test_no_name_begins_a_line_of_a_log_as_a_command(form, name):
    lines = write_table(Table([name, "n"], [[name, 1], ["::stop", 2]], []), form).splitlines()
    assert any(name[3:6] in line for line in lines)
    assert not [line for line in lines if line.lstrip().startswith(("::", "##["))]


@pytest.mark.parametrize(
    ("p", "shown"), [("0.000000", "< 0.000001"), ("0.000001", "0.000001"), ("1", "1"), (None, "NA")]
)
def test_people_are_never_told_that_p_is_0_and_programs_get_the_number(p, shown):
    table = Table(["n", "p"], [[3, p_value(None if p is None else Decimal(p))]], [])
    assert write_table(table, "text").splitlines()[1].split("  ")[-1].strip() == shown
    assert write_table(table, "md").splitlines()[2] == f"| 3 | {shown.replace('<', '&lt;')} |"
    assert write_table(table, "latex").splitlines()[5] == rf"3 & {shown.replace('<', chr(92) + 'textless{}')} \\"
    assert write_table(table, "csv").splitlines()[1] == f"3,{p or 'NA'}"


def test_people_get_three_places_and_programs_all_of_them():
    """Of numbers, intervals and p-values; counts and names stay."""
    ends = [Decimal("-0.0564321"), Decimal(10)]
    row: list[Cell] = ["a 0.123456", 17, Decimal("0.3529412"), tell_range(ends), p_value(Decimal("0.000123")), None]
    table = Table(["name", "n", "exact", "interval", "p", "no"], [row], [])
    assert round_for_people(table).rows == [["a 0.123456", 17, Decimal("0.353"), "-0.056 to 10.000", "< 0.001", None]]
    assert write_table(table, "csv").splitlines()[1] == "a 0.123456,17,0.3529412,-0.0564321 to 10,0.000123,NA"


def test_a_number_that_rounds_to_0_has_no_sign():
    ends = [Decimal("-0.0004"), Decimal("0.0004")]
    rounded = round_for_people(Table(["bias", "interval"], [[ends[0], tell_range(ends)]], []))
    assert write_table(rounded, "csv").splitlines()[1] == "0.000,0.000 to 0.000"
