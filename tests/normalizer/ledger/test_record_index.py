"""A record is found by its id, file or artifact without reading the ledger: by the indexes of its buckets."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from normalizer.cli import main
from normalizer.ledger.commit_tree import changes
from normalizer.ledger.line_format import RECORD_FILES, id_of
from normalizer.ledger.reader import reading
from normalizer.ledger.record_index import names_in
from tests.support.bundles import bundle, entry

ODD = [5, 1.0, True, None, [1, 2], {"a": 1}, "5", "\u20ac\U0001f600", "deadbeef", 'a "b" \\']


@pytest.fixture(scope="module")
def ledger(tmp_path_factory):
    """A ledger of many small buckets, with names of every kind."""
    folder = tmp_path_factory.mktemp("indexed")
    for number in range(24):
        entries = [entry(f"{number}-{place}.pdf") for place in range(3)]
        entries.append(entry("shared.pdf"))
        entries.append({**entry("odd"), "file": ODD[number % len(ODD)]})
        (folder / f"{number}.json").write_text(json.dumps(bundle(*entries, run_id=f"r{number}")))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("normalizer.ledger.buckets.BUCKET_BYTES", 4000)
        main(["normalize", *map(str, sorted(folder.glob("*.json"))), "--out", str(folder / "ledger")])
    return folder / "ledger"


def test_what_is_found_by_the_index_is_what_reading_every_line_finds(ledger):
    assert len(list(ledger.glob("records-*.index"))) > 8
    assert list(ledger.glob("invalid-*.index"))
    with reading(ledger) as opened:
        every = {kind: list(opened.lines(kind)) for kind in RECORD_FILES}
        ids = [id_of(line) for kind in RECORD_FILES for line in every[kind]]
        wanted = [*ids[:20], *(each[:length] for each in ids[:4] for length in (1, 2, 3, 7, 8, 9, 31)), "shared.pdf"]
        wanted += [value if isinstance(value, str) else json.dumps(value) for value in ODD]
        for name in [*wanted, "0-0.pdf", "23-2.pdf", "absent", "f" * 32, "F0", "g", "null"]:
            for kind in RECORD_FILES:
                plain = [
                    line for line in every[kind] if id_of(line).startswith(name) or name in names_in(json.loads(line))
                ]
                assert list(opened.find(kind, name)) == plain, name


def test_explain_and_list_read_the_buckets_of_what_is_named_alone(ledger):
    watch = (
        "import sys; sys.addaudithook(lambda event, args: event == 'open' and print(args[0], file=sys.stderr)); "
        "from normalizer.cli import main; raise SystemExit(main(sys.argv[1:]))"
    )
    for arguments in (["explain", str(ledger), "7-1.pdf"], ["list", str(ledger), "--valid", "--file", "7-1.pdf"]):
        done = subprocess.run([sys.executable, "-c", watch, *arguments], capture_output=True, text=True, check=True)
        assert "7-1.pdf" in done.stdout
        opened = [Path(line).name for line in done.stderr.splitlines() if str(ledger) in line]
        read = [name for name in opened if name.startswith(("records", "invalid")) and name.endswith(".jsonl")]
        assert len(read) == 1


def test_a_changed_index_is_noticed(ledger, capsys):
    index = min(ledger.glob("records-*.index"))
    good = index.read_bytes()
    for bad in (good[:-1] + bytes([good[-1] ^ 1]), good + b"x", good[:-1], b""):
        index.write_bytes(bad)
        assert any(index.name in line for line in changes(ledger))
        assert main(["explain", str(ledger), "absent"]) == 2
        assert f"{index.name} was changed" in capsys.readouterr().err
    index.write_bytes(good)
    assert changes(ledger) == []
