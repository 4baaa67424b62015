"""The notebook of the docs runs as it is, and prints what it shows."""

from tests.support.doc_pages import ROOT
from tests.support.notebooks import cells, run, shown

NOTEBOOK = ROOT / "docs" / "study.ipynb"


def test_every_cell_prints_what_the_notebook_shows():
    printed = run(NOTEBOOK)
    assert len(printed) >= 6
    for cell, text in zip(cells(NOTEBOOK), printed, strict=True):
        source = "".join(cell["source"])
        assert text == shown(cell), (
            f"{source}\n\nTo take over what is printed now: python -m tools.refresh_docs {NOTEBOOK}"
        )
