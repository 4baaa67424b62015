"""The lines of a page lead to the rows that records come from, in archives as well."""

import hashlib
import json
import zipfile

import pytest

from normalizer.cli import main
from normalizer.documents.lossless import parse
from normalizer.ledger.reader import reading
from normalizer.report.raw_lines import Raw
from normalizer.report.records.bundles import PageBundles

DIALECT = {
    "name": "zipped-lines",
    "container": [{"kind": "zip", "members": "*.jsonl", "each": "jsonl"}],
    "fields": {"file": {"at": "/id"}, "scores": {"quality": {"at": "/score"}}},
    "rubric": {"name": "r", "dimensions": {"quality": {"scale": {"kind": "range", "minimum": 0, "maximum": 9}}}},
}
ROWS = {"a.jsonl": ['{"id":"x","score":1}', '{"id":"y","score":2}'], "b.jsonl": ['{"id":"z","score":3}', "{no"]}


@pytest.fixture
def ledger(tmp_path):
    with zipfile.ZipFile(tmp_path / "log.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, rows in ROWS.items():
            archive.writestr(name, "\n".join(rows) + "\n")
    (tmp_path / "dialect.json").write_text(json.dumps(DIALECT))
    given = ["--dialect", str(tmp_path / "dialect.json"), "--set", "phase=1", "--set", "protocol_version=p"]
    given += ["--set", "judge_model=j", "--set", "generator_model=g"]
    assert main(["normalize", str(tmp_path / "log.zip"), "--out", str(tmp_path / "ledger"), *given]) == 1
    return tmp_path / "ledger"


def test_an_archive_is_shown_as_its_rows_below_the_names_of_its_files(ledger, tmp_path):
    data = (tmp_path / "log.zip").read_bytes()
    sha256 = hashlib.sha256(data).hexdigest()
    bundles = PageBundles()
    with reading(ledger) as opened:
        records = [parse(line, 64) for kind in ("records", "invalid") for line in opened.lines(kind)]
        bundles.add(sha256, opened)
        raw = Raw(bundles, records)
        [shown] = raw.document()
    assert bundles.sizes == {sha256: len(data)}
    assert shown["lines"] == ["a.jsonl:", *ROWS["a.jsonl"], "b.jsonl:", *ROWS["b.jsonl"]]
    for record in records:
        span = raw.entry(sha256, record["source"]["pointer"], raw.row(record["source"]))
        [line] = shown["lines"][span.first - 1 : span.last]
        assert line == record["source"]["text"]


def test_no_byte_of_an_archive_is_on_the_page(ledger, tmp_path):
    assert main(["report", str(ledger), "--out", str(tmp_path / "page.html")]) == 0
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    for part in ("PK\\u0003", "PK\N{SYMBOL FOR END OF TEXT}", "\N{REPLACEMENT CHARACTER}"):
        assert part not in page
    assert '{\\"id\\":\\"y\\",\\"score\\":2}' in page


def test_bytes_that_are_no_text_are_not_shown(tmp_path):
    (tmp_path / "broken.json").write_bytes(b"PK\x03\x04\0\0")
    assert main(["normalize", str(tmp_path / "broken.json"), "--out", str(tmp_path / "ledger")]) == 1
    bundles = PageBundles()
    with reading(tmp_path / "ledger") as opened:
        assert bundles.add_all([opened], None)
        [shown] = Raw(bundles).document()
    assert shown["lines"] is None
