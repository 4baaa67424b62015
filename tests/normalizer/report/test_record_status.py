"""A report says at once when there are too many records for it."""

import json

import pytest

from normalizer.cli import main
from normalizer.report import record_status, study
from tests.support.bundles import bundle, entry


def test_a_ledger_that_is_too_large_is_refused_before_anything_is_computed(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(record_status, "MOST", 2)
    for number in range(2):
        path = tmp_path / f"{number}.json"
        path.write_text(json.dumps(bundle(*(entry(f"{n}") for n in range(2 - number)), run_id=str(number))))
        main(["normalize", str(path), "--out", str(tmp_path / f"l{number}")])
        main(["normalize", str(path), "--out", str(tmp_path / "both")])
    monkeypatch.setattr(study, "summarize", lambda *_: pytest.fail("it was computed"))
    for ledgers in ([tmp_path / "both"], [tmp_path / "l0", tmp_path / "l1"]):
        capsys.readouterr()
        assert main(["report", *map(str, ledgers), "--out", str(tmp_path / "p.html")]) == 2
        assert "there are 3 records, and a page can show 2 one by one: use aggregate" in capsys.readouterr().err
