r"""LaTeX tables as papers have them: what dresses a cell is removed, and what the cell says stays."""

import pytest

from normalizer.checks.published_tables import latex

DRESSED = {
    r"\textbf{\underline{6.08}}": "6.08",
    r"{\bf 6.08}": "6.08",
    r"$\mathbf{6.08 \pm 0.37}$": "6.08 ± 0.37",
    r"6.08{\scriptsize $\pm$0.37}": "6.08±0.37",
    r"6.08 {\scriptsize$\pm$0.37}": "6.08 ±0.37",
    r"$6.08_{\pm 0.37}$": "6.08_{± 0.37}",
    r"\num{6.08}": "6.08",
    r"\num{6.08 \pm 0.37}": "6.08 ± 0.37",
    r"\cellcolor{gray!20}6.08": "6.08",
    r"\cellcolor[HTML]{DDFFDD} \textbf{6.08}": "6.08",
    r"\textcolor{red}{6.08}": "6.08",
    r"6.08$^\dagger$": "6.08†",
    r"6.08$^{**}$": "6.08^{**}",
    r"6.08\textsuperscript{a}": "6.08^{a}",
    r"1{,}234": "1,234",
    r"1\,234": "1 234",
    r"60.8\,\%": "60.8 %",
    r"\makecell{Total\\score}": "Total score",
    r"\shortstack{B\_ \\ snapshot\_ \\ constraint}": "B_snapshot_constraint",
    r"Score $\uparrow$": "Score ↑",
    r"gpt\_4 \& more": "gpt_4 & more",
    r"\unknown{6.08}": r"\unknown{6.08}",
}


@pytest.mark.parametrize(("cell", "text"), DRESSED.items())
def test_a_cell_is_its_text_without_dress(cell, text):
    assert latex.plain(cell) == text


@pytest.mark.parametrize(
    "begin",
    [
        r"\begin{tabular}{lr}",
        r"\begin{tabular}[t]{lS[table-format=2.2]}",
        r"\begin{tabular*}{\columnwidth}{@{\extracolsep{\fill}}lr}",
        r"\begin{tabularx}{\columnwidth}{l>{\raggedleft\arraybackslash}X}",
        r"\begin{longtable}[c]{@{}lr@{}}",
    ],
)
def test_every_usual_table_is_read(begin):
    name = begin[7 : begin.index("}")]
    body = "\\toprule\nModel & Score \\\\\n\\midrule\na & 1 \\\\[2pt]\nb & 2 % twice\n\\\\"
    text = f"{begin}\n{body}\n\\end{{{name}}}\nc & 3 \\\\"
    assert latex.tables(text)[0] == [(3, ["Model", "Score"]), (5, ["a", "1"]), (6, ["b", "2"])]


def test_rows_that_name_parts_of_the_table_are_no_rows_of_it():
    text = r"""\begin{tabular}{lrr}
 & \multicolumn{2}{c}{Judges} \\
\cmidrule(lr){2-3}
Model & one & two \\
\multicolumn{3}{l}{\emph{Small models}} \\
a & 1 & 2 \\
\end{tabular}"""
    assert [cells for _, cells in latex.tables(text)[0]] == [["Model", "one", "two"], ["a", "1", "2"]]


def test_a_cell_over_several_rows_stands_in_each_of_them_and_no_further():
    text = r"""\begin{tabular}{llr}
Model & Judge & Score \\
\multirow{2}{*}{a} & x & 1 \\
 & y & 2 \\
 & z & 3 \\
\end{tabular}"""
    assert [cells for _, cells in latex.tables(text)[0]][1:] == [["a", "x", "1"], ["a", "y", "2"], ["", "z", "3"]]


def test_every_table_of_a_file_is_read_with_its_lines():
    one = "\\begin{tabular}{lr}\nModel & Score \\\\\na & 1 \\\\\n\\end{tabular}\n"
    other = "\\begin{longtable}{l}\nName \\\\\nb\n\\end{longtable}\n"
    assert latex.tables(f"{one}\nwords\n{other}") == [
        [(2, ["Model", "Score"]), (3, ["a", "1"])],
        [(8, ["Name"]), (9, ["b"])],
    ]
