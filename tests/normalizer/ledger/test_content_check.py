"""A ledger whose digests are right and whose lines no run wrote is refused, and crashes no command."""

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from normalizer.cli import main
from normalizer.errors import UnusableLedger
from normalizer.ledger.content_check import content_checked_on_failure
from tests.support.bundles import bundle, entry
from tests.support.ledgers import recommit

Forge = Callable[[Path], None]


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    """A ledger with VALID and INVALID records and an unreadable bundle, under a manifest."""
    folder = tmp_path_factory.mktemp("honest")
    entries = [entry(name, evidence={"A_structure": f"quoted {name}"}) for name in "abcd"]
    entries[1]["scores"]["A_structure"] = 9
    (folder / "0.json").write_text(json.dumps(bundle(*entries, run_id="run-0")))
    (folder / "1.json").write_text("[]")
    (folder / "manifest.json").write_text(json.dumps({"phase": 1, "files": [{"file": name} for name in "abcde"]}))
    given = [str(folder / f"{number}.json") for number in range(2)]
    out = ["--manifest", str(folder / "manifest.json"), "--out", str(folder / "ledger")]
    assert main(["normalize", *given, *out]) == 1
    return folder / "ledger"


def changed(kind: str, pointer: str, value: Any) -> Forge:
    """Set a member of the first line of a file; `...` removes it."""

    def forge(ledger: Path) -> None:
        path = ledger / f"{kind}.jsonl"
        first, *rest = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(b"".join([compact(with_member(json.loads(first), pointer, value)) + b"\n", *rest]))

    return forge


def changed_document(name: str, pointer: str, value: Any) -> Forge:
    """Set a member of a settings document, which has another hash then; lines name it by that hash."""

    def forge(ledger: Path) -> None:
        before = json.loads((ledger / "headers.jsonl").read_bytes().splitlines()[0])["settings"][name]
        path = ledger / "settings" / f"{before}.json"
        text = compact(with_member(json.loads(path.read_bytes()), pointer, value))
        after = hashlib.sha256(text).hexdigest()
        path.unlink()
        (ledger / "settings" / f"{after}.json").write_bytes(text + b"\n")
        for kind in ("headers", "audit"):
            lines = ledger / f"{kind}.jsonl"
            lines.write_bytes(lines.read_bytes().replace(before.encode(), after.encode()))

    return forge


def with_member(document: Any, pointer: str, value: Any) -> Any:
    if not pointer:
        return value
    *above, last = pointer.split("/")
    place = document
    for name in above:
        place = place[name]
    if value is ...:
        del place[last]
    else:
        place[last] = value
    return document


def compact(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


STRANGE = {
    "a header without a rubric": changed("headers", "settings/rubric", ...),
    "a header whose reasons are no list": changed("headers", "reasons", 10),
    "a header whose settings are a number": changed("headers", "settings", 10),
    "a header without a hash of its manifest": changed("headers", "settings/manifest", "../../manifest"),
    "a record whose phase is a word": changed("records", "phase", "one"),
    "a record whose phase is a list": changed("records", "phase", [1]),
    "a record whose scores are a list": changed("records", "scores", [1]),
    "a record without a file": changed("records", "file", ...),
    "a record with a number that no integer holds": changed("records", "source/index", "9" * 5000),
    "an invalid record without reasons": changed("invalid", "reasons", ...),
    "an unreadable bundle without settings": changed("audit", "settings", {}),
    "an unreadable bundle with a list for a pointer": changed(
        "audit", "reasons", [{"code": "not_an_object", "pointer": [None], "message": "x"}]
    ),
    "a rubric that is true": changed_document("rubric", "", True),
    "a rubric without dimensions": changed_document("rubric", "dimensions", ...),
    "a rubric with a scale of words": changed_document("rubric", "dimensions/A_structure", {"scale": {"minimum": "x"}}),
    "a rubric nested too deep": changed_document("rubric", "notes", json.loads("[" * 300 + "]" * 300)),
    "a manifest whose files are a number": changed_document("manifest", "files", 3),
}


def commands(ledger: str, folder: str) -> list[list[str]]:
    first = min(path.stem for path in Path(ledger, "bundles").glob("*/*"))
    return [
        ["list", ledger],
        ["explain", ledger, "a"],
        ["explain", ledger, first],
        ["restore", ledger, first, "--from-records"],
        ["audit", "--study", folder, "--no-verify"],
        ["aggregate", ledger],
        ["gate", ledger, ledger],
        ["audit", "--claims", ledger],
        ["report", ledger, "--out", f"{folder}/report.html"],
        ["audit", ledger, "--artifacts", folder],
        ["export", ledger, "--to", "csv", "--invalid", "--out", f"{folder}/records.csv"],
        ["repair", ledger, "--out", f"{folder}/repaired"],
    ]


@pytest.mark.parametrize("forge", STRANGE.values(), ids=STRANGE)
def test_no_command_crashes(honest, tmp_path, capsys, forge):
    ledger = tmp_path / "study" / "ledger"
    shutil.copytree(honest, ledger)
    forge(ledger)
    recommit(ledger)
    for command in commands(str(ledger), str(tmp_path / "study")):
        assert main(command) in (0, 1, 2), command  # a crash would be raised
    capsys.readouterr()
    assert main(["audit", str(ledger)]) != 0


def test_no_control_character_of_a_line_is_printed(honest, tmp_path, capsys):
    ledger = tmp_path / "ledger"
    shutil.copytree(honest, ledger)
    with (ledger / "headers.jsonl").open("ab") as file:
        file.write(b"\x1b[31m\0" * 20 + b"\n")
    for command in [*commands(str(ledger), str(tmp_path)), ["audit", str(ledger)]]:
        assert main(command) in (0, 1, 2), command
        told = "".join(capsys.readouterr())
        assert not [char for char in told if not char.isprintable() and char != "\n"], command


def test_a_refusal_names_the_line_and_what_to_do(honest, tmp_path, capsys):
    ledger = tmp_path / "ledger"
    shutil.copytree(honest, ledger)
    changed("headers", "settings/rubric", ...)(ledger)
    recommit(ledger)
    assert main(["aggregate", str(ledger)]) == 2
    told = capsys.readouterr().err
    assert f"line 1 of {ledger / 'headers.jsonl'} is not what a run writes: /settings" in told
    assert "normalizer repair" in told


def test_a_failure_that_is_not_the_ledgers_stays_as_it_is(honest):
    with pytest.raises(KeyError, match="ours"), content_checked_on_failure(honest):
        raise KeyError("ours")


def test_a_failure_on_a_strange_ledger_is_a_refusal(honest, tmp_path):
    shutil.copytree(honest, tmp_path / "ledger")
    changed("records", "phase", "one")(tmp_path / "ledger")
    with pytest.raises(UnusableLedger, match="line 1 of"), content_checked_on_failure(tmp_path / "ledger"):
        raise KeyError("phase")
