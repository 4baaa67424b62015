"""A ledger that somebody damaged: nothing is added, nothing is made worse, and one sentence says what is wrong."""

import json
import shutil
from itertools import product
from pathlib import Path

import pytest

from normalizer.cli import main
from tests.normalizer.batch.test_run import made
from tests.support.bundles import bundle, entry
from tests.support.ledgers import recommit, without_record

PLACES = [
    "commit.json",
    "records.jsonl",
    "invalid.jsonl",
    "headers.jsonl",
    "audit.jsonl",
    "settings",
    "bundles",
    ".lock",
]
PLACES += ["settings/*.json", "bundles/*/*.json"]


def garbage(path: Path) -> None:
    path.write_bytes(b"\x00\xff{]\n" * 40)


def other_json(path: Path) -> None:
    path.write_bytes(b'{"bundle_sha256": 1}\n{}\n[]\n')


def truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-7])


def last_line_lost(path: Path) -> None:
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))


def doubled(path: Path) -> None:
    path.write_bytes(path.read_bytes() * 2)


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def folder_in_its_place(path: Path) -> None:
    path.unlink()
    path.mkdir()


def missing(path: Path) -> None:
    path.unlink()


DAMAGES = (garbage, other_json, truncated, last_line_lost, doubled, emptied, folder_in_its_place, missing)


def damage_folder(path: Path, damage) -> None:
    """A folder of the ledger is gone, or is a file."""
    shutil.rmtree(path)
    if damage is not missing:
        path.write_bytes(b"x")


def seen(folder: Path) -> dict[str, bytes | None]:
    """Everything in a folder, but for the lock, whose content means nothing."""
    found = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*")}
    return {name: path.read_bytes() if path.is_file() else None for name, path in found.items() if name != ".lock"}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A ledger with lines in every file, under a manifest, and a bundle that it has not."""
    folder = tmp_path_factory.mktemp("whole")
    paths = made(folder / "b", 8)
    (folder / "manifest.json").write_text(json.dumps({"files": [{"file": f"{n}.pdf"} for n in range(3)]}))
    argv = ["normalize", *map(str, paths), "--manifest", str(folder / "manifest.json")]
    assert main([*argv, "--out", str(folder / "ledger")]) == 1
    (folder / "new.json").write_text(json.dumps(bundle(entry("0.pdf"), run_id="new")))
    return folder


def damaged(whole: Path, tmp_path: Path, place: str, damage) -> Path:
    ledger = tmp_path / "ledger"
    shutil.copytree(whole / "ledger", ledger)
    [path, *_] = sorted(ledger.glob(place))
    if path.is_dir():
        damage_folder(path, damage)
    else:
        damage(path)
    return ledger


HARMLESS = {(".lock", damage) for damage in DAMAGES if damage is not folder_in_its_place}
"""Only that the lock is there matters, and it is made if it is not."""
UNREAD = {("bundles/*/*.json", damage) for damage in DAMAGES if damage is not missing}
"""Raw bundles are not read again when others are added: that would be all bytes that ever came. `audit` reads them."""


@pytest.mark.parametrize("under", ["the same settings", "other settings"])
@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
@pytest.mark.parametrize("place", PLACES)
def test_nothing_is_added_to_a_damaged_ledger(whole, tmp_path, capsys, place, damage, under):
    ledger = damaged(whole, tmp_path, place, damage)
    before = seen(ledger)
    flags = ["--manifest", str(whole / "manifest.json")] if under == "the same settings" else []
    capsys.readouterr()
    status = main(["normalize", str(whole / "new.json"), *flags, "--out", str(ledger)])
    said = capsys.readouterr().err
    if (place, damage) in HARMLESS | UNREAD:
        assert status in (0, 1)
        assert before.items() - seen(ledger).items() <= {
            (name, before.get(name)) for name in ("records.jsonl", "invalid.jsonl", "headers.jsonl", "commit.json")
        }
        return
    assert status == 2, said
    assert said.startswith("normalizer: ")
    assert said.count("\n") == 1
    assert str(ledger) in said
    assert seen(ledger) == before


STRAY = [".DS_Store", "Thumbs.db", f"._{'0' * 64}.json", "notes.json"]


@pytest.mark.parametrize("name", STRAY)
def test_what_a_file_manager_leaves_beside_the_raw_bundles_is_none_of_them(whole, tmp_path, capsys, name):
    ledger = damaged(whole, tmp_path, "bundles/*/*.json", lambda path: path.with_name(name).write_bytes(b"x"))
    assert main(["audit", str(ledger)]) == 0
    flags = ["--manifest", str(whole / "manifest.json"), "--out", str(ledger)]
    assert main(["normalize", str(whole / "new.json"), *flags]) == 1, capsys.readouterr().err


@pytest.mark.parametrize("name", STRAY)
def test_nothing_else_stands_in_for_a_raw_bundle_that_is_missing(whole, tmp_path, capsys, name):
    ledger = damaged(whole, tmp_path, "bundles/*/*.json", lambda path: path.rename(path.with_name(name)))
    flags = ["--manifest", str(whole / "manifest.json"), "--out", str(ledger)]
    assert main(["normalize", str(whole / "new.json"), *flags]) == 2
    assert "9 bundles are accounted for, but the raw bytes of 8 are there" in capsys.readouterr().err


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_a_damaged_raw_bundle_is_told_when_its_bundle_is_given_again(whole, tmp_path, capsys, damage):
    ledger = damaged(whole, tmp_path, "bundles/*/*.json", damage)
    before = seen(ledger)
    flags = ["--manifest", str(whole / "manifest.json"), "--out", str(ledger)]
    capsys.readouterr()
    assert main(["normalize", str(whole / "b"), *flags]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert seen(ledger) == before
    status = main(["normalize", str(whole / "b"), *flags, "--replace"])  # it is there anew, or nothing has changed
    assert seen(ledger) == (before if status == 2 else seen(whole / "ledger"))
    said = capsys.readouterr().err
    assert said.count("\n") == 1 if status == 2 else said.startswith("bundles: 8 in = 6 read + 2 unreadable")


COMMANDS = {
    "audit": [],
    "aggregate": ["--diagnostic"],
    "audit --no-verify --claims": [],
    "explain": ["0"],
    "restore": ["a"],
    "audit --no-verify --artifacts .": [],
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_whoever_reads_a_damaged_ledger_is_told_in_words(whole, tmp_path, capsys, damage, command):
    for number, place in enumerate(PLACES):
        (tmp_path / str(number)).mkdir()
        ledger = damaged(whole, tmp_path / str(number), place, damage)
        capsys.readouterr()
        status = main([*command.split(), str(ledger), *COMMANDS[command]])
        said = capsys.readouterr().err
        assert status in (0, 1, 2), place
        assert status < 2 or (said.startswith("normalizer: ") and said.count("\n") == 1), (place, said)


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        *product(
            ["aggregate", "agreement", "aggregate --sensitivity", "report", "audit --no-verify --artifacts ."],
            ["records", "invalid"],
        ),
        ("audit --no-verify --claims", "records"),
    ],
)
def test_no_number_is_made_of_a_part_of_the_records(whole, tmp_path, capsys, command, kind):
    ledger = damaged(whole, tmp_path, f"{kind}.jsonl", last_line_lost)
    flags = {"report": ["--out", str(tmp_path / "page.html")]}
    assert main([*command.split(), str(ledger), *flags.get(command, [])]) == 2
    assert f"{kind}.jsonl was changed: line" in capsys.readouterr().err
    without_record(ledger)
    assert main([*command.split(), str(ledger), *flags.get(command, [])]) == 2
    assert "commit.json is missing" in capsys.readouterr().err


def test_a_folder_where_the_rubric_of_a_run_belongs_stops_it_before_anything_is_changed(whole, tmp_path, capsys):
    rubric = {"name": "own", "dimensions": {"x": {"scale": {"kind": "integers", "minimum": 0, "maximum": 1}}}}
    (tmp_path / "rubric.json").write_text(json.dumps(rubric))
    flags = ["--rubric", str(tmp_path / "rubric.json"), "--out"]
    main(["normalize", str(whole / "new.json"), *flags, str(tmp_path / "other")])
    [place] = (tmp_path / "other" / "settings").iterdir()
    shutil.copytree(whole / "ledger", tmp_path / "ledger")
    (tmp_path / "ledger" / "settings" / place.name).mkdir()
    before = seen(tmp_path / "ledger")
    assert main(["normalize", str(whole / "new.json"), *flags, str(tmp_path / "ledger")]) == 2
    assert "is a folder, where a file belongs" in capsys.readouterr().err
    assert seen(tmp_path / "ledger") == before


def test_garbage_within_a_line_is_told(whole, tmp_path, capsys):
    ledger = damaged(whole, tmp_path, "headers.jsonl", lambda path: None)
    path = ledger / "headers.jsonl"
    for here, there in ((b'"settings":{"protocol"', b'"settings":{protocol"'), (b'"reasons":', b'"reasons":]')):
        whole_text = (whole / "ledger" / "headers.jsonl").read_bytes()
        path.write_bytes(whole_text.replace(here, there))
        again = ["normalize", str(whole / "b"), "--manifest", str(whole / "manifest.json"), "--out", str(ledger)]
        assert main(again) == 2
        assert main(["aggregate", str(ledger)]) == 2
        assert capsys.readouterr().err.count("headers.jsonl was changed") == 2
        with_record = (ledger / "commit.json").read_bytes()
        recommit(ledger)
        assert main(again) == 2
        assert main(["aggregate", str(ledger)]) == 2
        assert capsys.readouterr().err.count("not as a run left them") == 2
        (ledger / "commit.json").write_bytes(with_record)
