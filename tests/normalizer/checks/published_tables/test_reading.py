"""Tables as people publish them: every usual way to write a number is read, and a wrong digit is noticed in each."""

import math

import pytest

from normalizer.aggregate.summary import Options, aggregate
from normalizer.checks.published_tables.compare import check, follows
from normalizer.checks.published_tables.reading import read
from normalizer.errors import CannotRun
from tests.support.labelling import bundle_of, labelled, noisy, truth


@pytest.fixture(scope="module")
def ledger(tmp_path_factory):
    folder = tmp_path_factory.mktemp("published")
    real = truth(30, 1)
    runs = {"v1": real, "v2": noisy(real, 2, 0.6)}
    bundles = [bundle_of(scores, "judge", generator_model=name) for name, scores in runs.items()]
    return labelled(folder, "ledger", *bundles)


@pytest.fixture(scope="module")
def rows(ledger):
    return aggregate((ledger,), Options(by=("generator_model",), places=12))["rows"]


STYLES = {
    "plain": lambda mean, ends, sd, n: f"{mean:.2f}",
    "plus-minus, half of the interval": lambda mean, ends, sd, n: f"{mean:.2f} ± {(ends[1] - ends[0]) / 2:.2f}",
    "plus-minus, deviation": lambda mean, ends, sd, n: f"{mean:.3f}±{sd:.1f}",
    "brackets, deviation": lambda mean, ends, sd, n: f"{mean:.2f} ({sd:.2f})",
    "brackets, error": lambda mean, ends, sd, n: f"{mean:.2f} ({sd / math.sqrt(n):.3f})",
    "brackets, interval": lambda mean, ends, sd, n: f"{mean:.2f} [{ends[0]:.2f}, {ends[1]:.2f}]",
    "percent": lambda mean, ends, sd, n: f"{100 * mean:.1f} %",
}


def written(rows, style, form):
    cells = []
    for row in rows:
        mean, sd = float(row["total"]["mean"]), float(row["total"]["sd"])
        ends = [float(end) for end in row["total"]["ci95"]]
        cells.append((row["key"]["generator_model"], STYLES[style](mean, ends, sd, row["n"])))
    if form == "csv":
        return "Model,Score\n" + "".join(f'{name},"{cell}"\n' for name, cell in cells)
    if form == "semicolons":
        return "Model;Score\n" + "".join(f"{name};{cell.replace('.', ',')}\n" for name, cell in cells)
    if form == "markdown":
        return "# Results\n\n| Model | Score |\n| :-- | --: |\n" + "".join(f"| {n} | **{c}** |\n" for n, c in cells)
    in_latex = [(name, cell.replace("±", "\\pm ").replace("%", "\\%")) for name, cell in cells]
    body = "".join(f"{name} & \\textbf{{${cell}$}} \\\\\n" for name, cell in in_latex)
    return (
        "\\begin{table}\n\\begin{tabular}{lr}\n\\toprule\nModel & Score \\\\\n\\midrule\n"
        + body
        + "\\bottomrule\n\\end{tabular}\n"
    )


def checked(tmp_path, ledger, text):
    path = tmp_path / "table.txt"
    path.write_text(text, encoding="utf-8")
    named = {"Model": "generator_model", "Score": "total.mean"}
    return check(path, (ledger,), Options(by=("generator_model",)), named)


@pytest.mark.parametrize("form", ["csv", "semicolons", "markdown", "latex"])
@pytest.mark.parametrize("style", list(STYLES))
def test_a_true_table_follows_and_a_changed_digit_does_not(tmp_path, ledger, rows, style, form):
    text = written(rows, style, form)
    report = checked(tmp_path, ledger, text)
    assert report["counts"]["match"] + report["counts"]["rounding_tie"] == 2, report["cells"]
    assert follows(report)
    first = next(char for char in text[text.index("v1") + 2 :] if char.isdigit())
    place = text.index(first, text.index("v1") + 2)
    changed = text[:place] + str((int(first) + 1) % 10) + text[place + 1 :]
    report = checked(tmp_path, ledger, changed)
    assert report["counts"]["mismatch"] == 1
    assert not follows(report)
    [wrong] = [cell for cell in report["cells"] if cell["verdict"] == "mismatch"]
    assert wrong["why"].startswith("rounded as the cell is, it is ")


def test_the_spread_is_named_or_what_it_would_be(tmp_path, ledger, rows):
    mean, sd = (float(rows[0]["total"][name]) for name in ("mean", "sd"))
    [cell] = checked(tmp_path, ledger, f"Model,Score\nv1,{mean:.2f} ± {sd:.2f}\n")["cells"]
    assert (cell["verdict"], cell["why"]) == ("match", "the spread is the standard deviation")
    [cell] = checked(tmp_path, ledger, f"Model,Score\nv1,{mean:.2f} ± 9.99\n")["cells"]
    assert cell["verdict"] == "mismatch"
    assert f"the standard deviation is {sd:.2f}" in cell["why"]


def test_a_ragged_table_is_refused_with_its_line(tmp_path):
    path = tmp_path / "table.md"
    path.write_text("| a | b |\n| - | - |\n| 1 | 2 |\n| 1 |\n")
    with pytest.raises(CannotRun, match="line 4: 1 cells for 2 columns"):
        read(path)[0].rows()


@pytest.mark.parametrize("marks", ["\\cline(" * 200_000, "\\\\[" * 300_000, "{" * 100_000 + "}" * 100_000])
def test_a_table_of_nothing_but_marks_is_read_at_once(tmp_path, marks):
    """Patterns that try each beginning with each end would take an hour."""
    (tmp_path / "t.tex").write_text("\\begin{tabular}{l}a\\\\" + marks)
    assert read(tmp_path / "t.tex")[0].columns == ["a"]
    (tmp_path / "t.md").write_text("\n" * 500_000)
    with pytest.raises(CannotRun):
        read(tmp_path / "t.md")


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ("**6.08 ± 0.37**", "6.08 ± 0.37"),
        ("*6.08*", "6.08"),
        ("6.08*", "6.08*"),
        ("`6.08`", "6.08"),
        ("<b>6.08</b>", "6.08"),
        ("6.08<sub>±0.37</sub>", "6.08_{±0.37}"),
        ("6.08<sup>a</sup>", "6.08^{a}"),
        ("6.08[^1]", "6.08"),
        ("[alpha](https://example.org/alpha)", "alpha"),
        ("[`alpha-1`](https://example.org/alpha)[^2]", "alpha-1"),
        ("**[`alpha`](https://example.org)**", "alpha"),
        ("`**alpha**`", "alpha"),
        ("6.08 &plusmn; 0.37", "6.08 ± 0.37"),
        (r"a\_b \[c\]\(d\)", "a_b [c](d)"),
    ],
)
def test_a_markdown_cell_is_its_text_without_dress(tmp_path, cell, text):
    path = tmp_path / "table.md"
    path.write_text(f"| a | b |\n| - | - |\n| 1 | {cell} |\n")
    [table] = read(path)
    [(_, row)] = table.rows()
    assert row["b"] == text


def test_a_markdown_table_may_lack_the_outer_pipes(tmp_path):
    path = tmp_path / "table.md"
    path.write_text("Results\n\nModel | Score\n--- | ---:\nv1 | 6.1\nv2 | **5.9**\n\nmore | text\n")
    [table] = read(path)
    assert table.rows() == [(5, {"Model": "v1", "Score": "6.1"}), (6, {"Model": "v2", "Score": "5.9"})]


def test_an_arrow_beside_a_statistics_name_does_not_hide_it(tmp_path, ledger, rows):
    path = tmp_path / "table.md"
    path.write_text(f"| generator_model | total ↑ |\n| - | - |\n| v1 | {rows[0]['total']['mean']:.2f} |\n")
    report = check(path, (ledger,), Options(by=("generator_model",)), {})
    assert [cell["verdict"] for cell in report["cells"]] == ["match"]


def test_an_arrow_does_not_hide_a_column_that_is_named(tmp_path, ledger, rows):
    path = tmp_path / "table.tex"
    mean = f"{rows[0]['total']['mean']:.2f}"
    path.write_text("\\begin{tabular}{lr} Model & Score $\\uparrow$ \\\\ v1 & " + mean + " \\\\ \\end{tabular}")
    named = {"Model": "generator_model", "Score": "total.mean"}
    assert follows(check(path, (ledger,), Options(by=("generator_model",)), named))
    with pytest.raises(CannotRun, match="no column Sum, which --column names: its columns are Model, Score"):
        check(path, (ledger,), Options(by=("generator_model",)), {"Model": "generator_model", "Sum": "total.mean"})


@pytest.mark.parametrize("form", ["markdown", "latex"])
def test_every_table_of_a_file_that_has_the_keys_is_checked(tmp_path, ledger, rows, form):
    good = written(rows, "plain", form)
    other = {
        "markdown": "| a | b |\n| - | - |\n| 1 | 2 | 3 |\n\n",
        "latex": "\\begin{tabular}{lr}\na & b \\\\\n1 & 2 & 3 \\\\\n\\end{tabular}\n",
    }[form]
    report = checked(tmp_path, ledger, f"{other}\n{good}\n\n{good}")
    assert report["counts"]["match"] == 4
    assert [table["columns"] for table in report["other_tables"]] == [["a", "b"]]
    first = f"{rows[0]['total']['mean']:.2f}"
    assert first in good
    report = checked(tmp_path, ledger, f"{good}\n\n{good.replace(first, '0.01')}")
    assert (report["counts"]["match"], report["counts"]["mismatch"]) == (3, 1)
    assert not follows(report)


def test_tables_without_the_keys_are_refused_together(tmp_path, ledger):
    with pytest.raises(
        CannotRun, match="no column generator_model: its columns are a, b; neither has any other of its 2"
    ):
        checked(tmp_path, ledger, "| a | b |\n| - | - |\n| 1 | 2 |\n\n" * 2)


def test_the_true_number_is_told_in_percent_where_the_cell_is(tmp_path, ledger, rows):
    mean, sd = (float(rows[0]["total"][name]) for name in ("mean", "sd"))
    [cell] = checked(tmp_path, ledger, "Model,Score\nv1,1.0 %\n")["cells"]
    assert cell["why"] == f"rounded as the cell is, it is {100 * mean:.1f} %"
    [cell] = checked(tmp_path, ledger, f"Model,Score\nv1,{100 * mean:.1f} ± 1.0 %\n")["cells"]
    assert f"the standard deviation is {100 * sd:.1f} %" in cell["why"]


def test_a_table_of_which_nothing_would_be_compared_is_refused(tmp_path, ledger):
    path = tmp_path / "table.csv"
    path.write_text("generator_model,Score\nv1,6.1\n")
    with pytest.raises(CannotRun, match="nothing was compared"):
        check(path, (ledger,), Options(by=("generator_model",)), {})
