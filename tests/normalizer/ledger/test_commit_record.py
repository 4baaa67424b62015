"""The commit record: every changed byte of a ledger is noticed, and the record is a function of the content."""

import hashlib
import json
import os
import random
import shutil
from pathlib import Path

import contract_spec as spec
import pytest

from normalizer.cli import main
from normalizer.errors import UnusableLedger
from normalizer.ledger.buckets import LinePlace
from normalizer.ledger.commit_record import LineFile, Node, Part, Totals, encode, load_node, node_name
from normalizer.ledger.line_format import FILES, sha_slice
from normalizer.ledger.reader import reading
from tests.normalizer.batch.test_run import made, tree
from tests.support.bundles import bundle, entry
from tests.support.comparing import compared
from tests.support.ledgers import recommit, without_record
from tests.support.studies import ledger_of

FLIPS = int(os.environ.get("LEDGER_FLIPS", "6"))
"""Flips of each file; LEDGER_FLIPS=300 for the full number."""
PLACES = ["records.jsonl", "invalid.jsonl", "headers.jsonl", "audit.jsonl", "commit.json"]
PLACES += ["bundles/*/*.json", "settings/*.json"]
READS = {
    "aggregate LEDGER": FILES,
    "aggregate LEDGER --sensitivity": FILES,
    "agreement LEDGER": FILES,
    "plan LEDGER": FILES,
    "report LEDGER --out PAGE": FILES,
    "audit LEDGER --no-verify --claims": ("records", "headers"),
    "audit LEDGER --instruments": ("records", "invalid", "headers"),
    "audit LEDGER --no-verify --artifacts FOLDER": FILES,
    "export LEDGER --to jsonl": ("records", "headers"),
    "export LEDGER --to csv --invalid": ("records", "invalid", "headers"),
    "explain LEDGER 0.pdf": ("records", "invalid", "headers"),
    "list LEDGER": FILES,
    "list LEDGER --valid": ("records",),
    "list LEDGER --valid --file 0.pdf": ("records",),
    "list LEDGER --invalid": ("invalid",),
    "list LEDGER --unreadable": ("invalid", "audit"),
    "list LEDGER --counted": ("records", "headers", "audit"),
}
"""Which kinds of lines a command reads. All of them are compared with their digests, and no others are looked at."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A ledger with lines in every file, under a manifest."""
    folder = tmp_path_factory.mktemp("whole")
    paths = made(folder / "b", 8)
    (folder / "claims.json").write_text(
        json.dumps(bundle(entry("0.pdf"), entry("1.pdf"), phase=1, aggregates={"mean_total": 5}, judge_model="j"))
    )
    (folder / "manifest.json").write_text(json.dumps({"files": [{"file": f"{n}.pdf"} for n in range(3)]}))
    argv = ["normalize", *map(str, paths), str(folder / "claims.json"), "--manifest", str(folder / "manifest.json")]
    assert main([*argv, "--out", str(folder / "ledger")]) == 1
    return folder / "ledger"


def flipped(ledger: Path, place: str, chance: random.Random) -> Path:
    """Change one byte of one file; returns the file."""
    path = chance.choice(sorted(ledger.glob(place)))
    data = bytearray(path.read_bytes())
    at = chance.randrange(len(data))
    data[at] ^= chance.randrange(1, 256)
    path.write_bytes(bytes(data))
    return path


@pytest.mark.parametrize("place", PLACES)
def test_audit_finds_every_changed_byte(whole, tmp_path, capsys, place):
    chance = random.Random(place)
    ledger = tmp_path / "ledger"
    shutil.copytree(whole, ledger)
    for _ in range(FLIPS):
        path = flipped(ledger, place, chance)
        changed = path.read_bytes()
        assert main(["audit", str(ledger)]) == 1, changed
        assert "Traceback" not in capsys.readouterr().err
        shutil.copy(whole / path.relative_to(ledger), path)
    assert main(["audit", str(ledger)]) == 0


@pytest.mark.parametrize("command", READS)
def test_a_command_notices_every_changed_byte_of_what_it_reads_and_looks_at_nothing_else(
    whole, tmp_path, capsys, command
):
    chance = random.Random(command)
    ledger, page = tmp_path / "ledger", tmp_path / "p.html"
    shutil.copytree(whole, ledger)
    places = {"LEDGER": str(ledger), "PAGE": str(page), "FOLDER": str(tmp_path / "none")}
    (tmp_path / "none").mkdir()
    words = [places.get(word, word) for word in command.split()]
    expected = main(words), capsys.readouterr().out
    assert expected[0] != 2
    page.unlink(missing_ok=True)
    for place in PLACES[:5]:
        for _ in range(-(-FLIPS // 3)):
            path = flipped(ledger, place, chance)
            outcome, said = main(words), capsys.readouterr()
            if place == "commit.json" or place.removesuffix(".jsonl") in READS[command]:
                assert outcome == 2, place
                assert path.name in said.err
                assert "normalizer repair" in said.err
                assert said.out == "" or command.startswith("list")
                assert not page.exists()
            else:
                assert (outcome, said.out) == expected, place
            shutil.copy(whole / path.relative_to(ledger), path)


@pytest.mark.parametrize("command", ["preferences", "compare", "gate"])
def test_commands_that_compare_notice_every_changed_file(tmp_path, capsys, command):
    scores = [
        bundle(*(entry(f"{generator}{item}.pdf") for item in range(4)), generator_model=generator, run_id=generator)
        for generator in "xy"
    ]
    duels = [{"item": f"q{item}", "a": "x", "b": "y", "verdict": "ab"[item % 2], "order": "ab"} for item in range(6)]
    ledger = compared(tmp_path, duels) if command == "preferences" else ledger_of(tmp_path, scores)
    more = [str(ledger), "--where", "generator_model=x", "--allow-undecided"] if command == "gate" else []
    words = [command, str(ledger), *more]
    assert main(words) == 0
    for kind in FILES:
        path = ledger / f"{kind}.jsonl"
        good = path.read_bytes()
        for bad in (good + b"x", good[:9] + bytes([good[9] ^ 1]) + good[10:] if good else b"\n"):
            path.write_bytes(bad)
            capsys.readouterr()
            assert main(words) == 2
            said = capsys.readouterr()
            assert (said.out, path.name in said.err) == ("", True)
        path.write_bytes(good)


def test_a_ledger_without_its_commit_record_is_refused_and_rebuilt(whole, tmp_path, capsys):
    shutil.copytree(whole, tmp_path / "ledger")
    ledger = str(without_record(tmp_path / "ledger"))
    capsys.readouterr()
    assert main(["aggregate", ledger]) == 2
    assert "commit.json is missing" in capsys.readouterr().err
    assert main(["audit", ledger, "--format", "json"]) == 1
    assert json.loads(capsys.readouterr().out)["digests"] == "differ"
    (tmp_path / "new.json").write_text(json.dumps(bundle(entry("0.pdf"), run_id="new")))
    assert main(["normalize", str(tmp_path / "new.json"), "--out", ledger]) == 2
    assert main(["repair", ledger, "--out", str(tmp_path / "rebuilt")]) == 0
    assert tree(tmp_path / "rebuilt") == tree(whole)


def test_the_record_fits_its_schema_and_covers_every_byte(whole):
    record = json.loads((whole / "commit.json").read_bytes())
    assert spec.violations("eval/ledger_commit.json", record) == []
    for kind, [file] in record["files"].items():
        data = (whole / f"{kind}.jsonl").read_bytes()
        assert (file["bytes"], file["lines"]) == (len(data), data.count(b"\n"))
        assert file["sha256"] == hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize("change", ["a space", "another order", "no line end", "a link"])
def test_a_record_that_says_as_much_in_other_bytes_is_refused(whole, tmp_path, capsys, change):
    shutil.copytree(whole, tmp_path / "ledger")
    path = tmp_path / "ledger" / "commit.json"
    data = path.read_bytes()
    members = json.loads(data)
    if change == "a link":
        path.rename(tmp_path / "elsewhere")
        path.symlink_to(tmp_path / "elsewhere")
    else:
        others = {"a space": data[:1] + b" " + data[1:], "no line end": data[:-1]}
        others["another order"] = json.dumps(dict(reversed(members.items())), separators=(",", ":")).encode() + b"\n"
        path.write_bytes(others[change])
    assert main(["aggregate", str(tmp_path / "ledger")]) == 2
    assert "commit.json" in capsys.readouterr().err


@pytest.mark.parametrize("size", [1 << 40, 1 << 62, 10**30])
def test_a_file_longer_than_any_is_told_as_a_change(whole, tmp_path, capsys, size):
    ledger = tmp_path / "ledger"
    shutil.copytree(whole, ledger)
    node = load_node(ledger)
    [file] = node.files["records"]
    forged = Node("", {**node.files, "records": [file._replace(bytes=size)]}, [])
    (ledger / "commit.json").write_bytes(encode(forged))
    sha256 = (ledger / "records.jsonl").read_bytes().splitlines()[-1][sha_slice("records")].decode()
    for argv in (["audit", str(ledger)], ["list", str(ledger)], ["explain", str(ledger), sha256]):
        assert main(argv) in (1, 2)
        assert "do not have the digest in commit.json" in capsys.readouterr().err


HASH = "0" * 64


@pytest.mark.parametrize(
    ("prefix", "places", "parts"),
    [
        ("", [LinePlace("records", "1"), LinePlace("records", "0")], []),
        ("", [LinePlace("records", "0"), LinePlace("records", "0")], []),
        ("", [LinePlace("records", "0"), LinePlace("records", "01")], []),
        ("", [LinePlace("records", "0"), LinePlace("records", "0", 7)], []),
        ("", [LinePlace("records", "0")], ["1"]),
        ("", [], [""]),
        ("", [], ["00"]),
        ("", [], ["1", "0"]),
        ("", [], ["0", "0"]),
        ("a", [LinePlace("records", "b")], []),
        ("a", [], ["b0"]),
    ],
)
def test_a_record_whose_files_are_out_of_place_is_refused(tmp_path, prefix, places, parts):
    files = {
        kind: [LineFile(place, 0, 0, HASH, HASH if place.index_name else "") for place in places if place.kind == kind]
        for kind in FILES
    }
    node = Node(prefix, files, [Part(part, dict.fromkeys(FILES, Totals()), HASH) for part in parts])
    (tmp_path / node_name(prefix)).write_bytes(encode(node))
    with pytest.raises(UnusableLedger, match="was changed"):
        load_node(tmp_path, prefix)


def test_a_run_refuses_a_changed_line_that_it_would_only_copy(whole, tmp_path, capsys):
    shutil.copytree(whole, tmp_path / "ledger")
    records = tmp_path / "ledger" / "records.jsonl"
    records.write_bytes(records.read_bytes().replace(b"1", b"2", 1))
    (tmp_path / "new.json").write_text(json.dumps(bundle(entry("0.pdf"), run_id="new")))
    assert main(["normalize", str(tmp_path / "new.json"), "--out", str(tmp_path / "ledger")]) == 2
    assert "records.jsonl was changed: line" in capsys.readouterr().err


def test_a_run_refuses_bytes_in_a_file_that_ought_to_be_empty(tmp_path, capsys):
    (tmp_path / "bundle.json").write_text(json.dumps(bundle(entry("a"))))
    command = ["normalize", str(tmp_path / "bundle.json"), "--out", str(tmp_path / "ledger")]
    assert main(command) == 0
    (tmp_path / "ledger" / "invalid.jsonl").write_text("precious\n")
    assert main(command) == 2
    assert "invalid.jsonl was changed, it has another size" in capsys.readouterr().err
    assert (tmp_path / "ledger" / "invalid.jsonl").read_text() == "precious\n"


def test_lines_of_one_bundle_are_compared_with_their_digest(whole, tmp_path):
    shutil.copytree(whole, tmp_path / "ledger")
    with reading(tmp_path / "ledger") as ledger:
        for item in ledger.items("headers"):
            assert len(list(ledger.lines_of("records", item["bundle_sha256"]))) == item["valid"]


def test_a_recomputed_record_is_accepted_by_readers(whole, tmp_path):
    """Digests notice accidents and edits; a forger is noticed by `audit`, which normalizes the bundles again."""
    shutil.copytree(whole, tmp_path / "ledger")
    recommit(tmp_path / "ledger")
    assert tree(tmp_path / "ledger") == tree(whole)
    assert encode(load_node(whole)) == (whole / "commit.json").read_bytes()
