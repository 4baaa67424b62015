"""The raw line of a record is the one that its row was read from, whatever characters stand in the file."""

import gzip
import hashlib
import io
import json
import zipfile

import pytest
import zstandard

from normalizer.cli import main

RUBRIC = {"name": "r", "dimensions": {"overall": {"scale": {"kind": "integers", "minimum": 1, "maximum": 5}}}}
FIELDS = {"file": {"at": "/id"}, "scores": {"overall": {"at": "/r", "number": ["plain"]}}}
ODD = "one\u2028two\u0085three\x0cfour\x1cfive"
ROWS = [{"id": "first", "r": "1", "note": ODD}, {"id": "second", "r": "2", "note": ODD}, {"id": "third", "r": "3"}]


def as_lines(rows):
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def as_cells(rows):
    return ("id,r,note\n" + "".join(f'{row["id"]},{row["r"]},"{row.get("note", "")}"\n' for row in rows)).encode()


def archive(name, data):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as packed:
        packed.writestr(name, data)
    return out.getvalue()


FILES = {
    "jsonl": ({"kind": "jsonl"}, as_lines(ROWS)),
    "csv": ({"kind": "csv"}, as_cells(ROWS)),
    "csv with carriage returns": ({"kind": "csv"}, as_cells(ROWS).replace(b"\n", b"\r")),
    "jsonl packed by gzip": ({"kind": "jsonl"}, gzip.compress(as_lines(ROWS))),
    "csv packed by zstd": ({"kind": "csv"}, zstandard.ZstdCompressor().compress(as_cells(ROWS))),
    "zip of jsonl": ({"kind": "zip", "members": "*", "each": "jsonl"}, archive("a.jsonl", as_lines(ROWS))),
    "zip of csv": ({"kind": "zip", "members": "*", "each": "csv"}, archive("a.csv", as_cells(ROWS))),
}


def write_ledger(folder, container, data):
    (folder / "file.data").write_bytes(data)
    dialect = {"name": "d", "container": [container], "fields": FIELDS, "rubric": RUBRIC}
    (folder / "dialect.json").write_text(json.dumps(dialect))
    arguments = ["normalize", str(folder / "file.data"), "--dialect", str(folder / "dialect.json")]
    assert main([*arguments, "--out", str(folder / "ledger")]) == 0
    return str(folder / "ledger")


@pytest.mark.parametrize("kind", FILES)
def test_explain_shows_the_line_of_the_row_and_no_other(tmp_path, capsys, kind):
    ledger = write_ledger(tmp_path, *FILES[kind])
    for row in ROWS:
        capsys.readouterr()
        assert main(["explain", ledger, row["id"]]) == 0
        quoted = capsys.readouterr().out.rpartition("the entry:")[2]
        assert row["id"] in quoted
        assert not any(other["id"] in quoted for other in ROWS if other is not row)


@pytest.mark.parametrize("kind", ["jsonl packed by gzip", "csv packed by zstd"])
def test_a_packed_file_comes_back_unpacked_from_its_records(tmp_path, capsysbinary, kind):
    ledger = write_ledger(tmp_path, *FILES[kind])
    capsysbinary.readouterr()
    sha256 = hashlib.sha256(FILES[kind][1]).hexdigest()
    assert main(["restore", ledger, sha256, "--from-records"]) == 0
    assert capsysbinary.readouterr().out == (as_lines(ROWS) if kind.startswith("jsonl") else as_cells(ROWS))
    assert main(["restore", ledger, sha256]) == 0
    assert capsysbinary.readouterr().out == FILES[kind][1]
