"""A report of comparisons alone: one page, the same from Python."""

import json
import re

import normalizer
from normalizer.cli import main
from tests.support.comparing import compared, drawn


def test_a_report_of_comparisons_alone_is_a_page(tmp_path, capsys):
    ledger = compared(tmp_path, drawn({"base": 0.0, "large": 1.0, "small": -0.5}, 20, 7))
    out = tmp_path / "page.html"
    assert main(["report", str(ledger), "--out", str(out), "--tables", str(tmp_path / "tables")]) == 0
    assert "120 of 120 records are in the headline" in capsys.readouterr().out
    text = out.read_text()
    assert all(part in text for part in ("Preferences", "Left out, and why", "normalizer preferences LEDGER"))
    data = json.loads(text.split('<script type="application/json" id="data">')[1].split("</script>")[0])
    assert {int(number) for number in re.findall(r'data-t="([0-9]+)"', text)} == set(range(len(data["trails"])))
    assert (tmp_path / "tables" / "preferences-pairs.csv").is_file()
    again = tmp_path / "again.html"
    assert normalizer.open(ledger).report(again) == len(out.read_bytes())
    assert again.read_bytes() == out.read_bytes()


def test_a_bundle_in_two_ledgers_is_behind_a_number_once(tmp_path):
    entries = drawn({"large": 1.0, "small": -0.5}, 6, 7)
    ledgers = [str(compared(tmp_path, entries, name)) for name in ("one", "other")]
    out = tmp_path / "page.html"
    assert main(["report", *ledgers, "--out", str(out)]) == 0
    data = json.loads(out.read_text().partition('id="data">')[2].partition("</script>")[0])
    behind = {trail["title"]: len(trail["records"]) for trail in data["trails"]}
    assert behind["Pairs: large, small"] == behind["All: counted"] == len(entries)
    assert behind["Left out: of a bundle that another ledger had already"] == len(entries)
