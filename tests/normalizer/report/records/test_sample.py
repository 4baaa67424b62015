"""A page shows every record, or of many a sample by their ids; its numbers are of all records."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from normalizer.cli import main
from normalizer.ledger.reader import Ledger
from normalizer.report.records import sample
from tests.support.bundles import bundle, entry
from tests.support.comparing import compared, drawn
from tests.support.labelling import bundle_of, labelled, noisy, truth


def page_of(folder: Path, *arguments: str) -> tuple[str, dict[str, Any], dict[str, bytes]]:
    """The text of a page, its data, and its tables."""
    out, tables = folder / "page.html", folder / "tables"
    assert main(["report", *arguments, "--out", str(out), "--tables", str(tables)]) == 0
    text = out.read_text()
    [found] = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', text, re.DOTALL)
    data = json.loads(found)
    return text, data, {path.name: path.read_bytes() for path in sorted(tables.iterdir())}


@pytest.fixture
def ledgers(tmp_path):
    real = truth(12, 1)
    wrong = entry("odd", scores={"A_structure": 9})
    labelled(tmp_path, "one", bundle_of(noisy(real, 2, 0.3), "judge"), bundle(wrong, run_id="x"))
    labelled(tmp_path, "base", bundle_of(noisy(real, 3, 0.6), "judge"))
    labelled(tmp_path, "gold", bundle_of(noisy(real, 4, 0.1), "anna", judge_kind="human"))
    compared(tmp_path, drawn({"x": 0.5, "y": 0.0}, 12, 1), "duel")
    return tmp_path


@pytest.mark.parametrize(
    "asked", [["one"], ["one", "--gold", "gold", "--base", "base", "--preferences", "duel"], ["duel"]], ids=len
)
def test_beyond_its_limit_a_page_shows_a_sample_by_id_and_all_its_numbers(ledgers, monkeypatch, asked):
    monkeypatch.chdir(ledgers)
    whole, every, tables = page_of(ledgers, *asked)
    ids = sorted(record["id"] for record in every["records"])
    assert len(ids) > 6
    assert "A sample" not in whole
    monkeypatch.setattr(sample, "MOST", 6)
    text, data, same = page_of(ledgers, *asked)
    assert same == tables
    assert sorted(record["id"] for record in data["records"]) == ids[:6]
    assert f"A sample: 6 of {len(ids)} records can be opened, those with the least ids." in text
    expected = set()
    for trail in every["trails"]:
        behind = [every["records"][place]["id"] for place in trail["records"]]
        shown = sorted(one for one in behind if one in ids[:6])
        counts = "" if len(shown) == len(behind) else f" ({len(shown)} of {len(behind)} are shown)"
        expected.add((trail["title"] + counts, *shown))
    found = {
        (trail["title"], *sorted(data["records"][place]["id"] for place in trail["records"]))
        for trail in data["trails"]
    }
    assert found == expected
    by_id = {record["id"]: record for record in every["records"]}
    for record in data["records"]:
        bundle_of_it = data["bundles"][record["bundle"]]
        assert record == {**by_id[record["id"]], "bundle": record["bundle"]}
        assert bundle_of_it["lines"][record["lines"][0] - 1].strip() or bundle_of_it["lines"] == [""]


def test_a_sample_does_not_depend_on_the_order_of_ledgers(ledgers, monkeypatch):
    monkeypatch.chdir(ledgers)
    monkeypatch.setattr(sample, "MOST", 5)
    found = [
        sorted(record["id"] for record in page_of(ledgers, *order)[1]["records"])
        for order in (["one", "base"], ["base", "one"])
    ]
    assert found[0] == found[1]
    assert len(found[0]) == 5


def test_only_the_records_that_are_shown_are_read_one_by_one(ledgers, monkeypatch):
    monkeypatch.chdir(ledgers)
    parsed = []
    exact = Ledger.exact

    def count(self: Ledger, kind: str, line: bytes) -> dict[str, Any]:
        parsed.append(kind)
        return exact(self, kind, line)

    monkeypatch.setattr(Ledger, "exact", count)
    monkeypatch.setattr(sample, "MOST", 5)
    page_of(ledgers, "one", "--gold", "gold", "--base", "base", "--preferences", "duel")
    assert sum(kind in ("records", "invalid") for kind in parsed) == 5
