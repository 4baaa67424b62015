"""Forged lines do not pass: the kept bundles are normalized again, and every line must be what comes out."""

import hashlib
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import contract_spec as spec
import pytest

from normalizer.cli import main
from normalizer.documents import protocol
from normalizer.documents.lossless import dumps
from tests.support.bundles import bundle, entry
from tests.support.ledgers import recommit

Lines = list[bytes]


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    """A ledger with VALID, INVALID and unreadable parts under a rubric and a manifest, and a table that follows."""
    folder = tmp_path_factory.mktemp("honest")
    entries = [entry(name, evidence={"A_structure": f"quoted {name}"}) for name in "abcd"]
    entries[1]["scores"]["A_structure"] = 9
    documents = [bundle(*entries, run_id=f"run-{number}") for number in range(3)]
    for number, document in enumerate(documents):
        (folder / f"{number}.json").write_text(json.dumps(document))
    (folder / "3.json").write_text("[]")
    (folder / "4.json").write_text('{"per_file_scores": [}')
    manifest = {"phase": 1, "files": [{"file": name} for name in "abcde"]}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    given = [str(folder / f"{number}.json") for number in range(5)]
    ledger = folder / "ledger"
    assert main(["normalize", *given, "--manifest", str(folder / "manifest.json"), "--out", str(ledger)]) == 1
    (folder / "table.csv").write_text("n,total\n3,5\n")
    return ledger


@pytest.fixture
def ledger(honest, tmp_path):
    shutil.copytree(honest, tmp_path / "ledger")
    shutil.copy(honest.parent / "table.csv", tmp_path / "table.csv")
    return tmp_path / "ledger"


def read(ledger: Path, kind: str) -> Lines:
    return (ledger / f"{kind}.jsonl").read_bytes().splitlines(keepends=True)


def write(ledger: Path, kind: str, lines: Lines) -> None:
    ordered: Lines = sorted(lines, key=key_of)
    (ledger / f"{kind}.jsonl").write_bytes(b"".join(ordered))
    if (ledger / "commit.json").exists():
        recommit(ledger)  # a forger can compute digests, too


def key_of(line: bytes) -> tuple[bytes, int]:
    found = re.search(rb'"bundle_sha256":"([0-9a-f]{64})"(?:,"index":([0-9]+))?', line)
    assert found
    return found[1], int(found[2] or 0)


def with_own_id(line: bytes) -> bytes:
    """The line with the id that its content now has."""
    end = line.rindex(b',"reasons":[') if b',"reasons":[' in line else len(line) - 2
    body = line[line.index(b'"source"') : end]
    return b'{"record_id":"' + hashlib.sha256(body).hexdigest()[:32].encode() + b'",' + body + line[end:]


def recount(ledger: Path, sha256: bytes, *, valid: int, invalid: int) -> None:
    """Adapt the counts of a bundle's header."""

    def adapted(line: bytes) -> bytes:
        if key_of(line)[0] != sha256:
            return line
        found = re.search(rb'"entries":(\d+),"valid":(\d+),"invalid":(\d+)', line)
        assert found
        counts = int(found[1]) + valid + invalid, int(found[2]) + valid, int(found[3]) + invalid
        return line.replace(found[0], b'"entries":%d,"valid":%d,"invalid":%d' % counts)

    write(ledger, "headers", [adapted(line) for line in read(ledger, "headers")])


def edited(kind: str, old: str, new: str) -> Callable[[Path], None]:
    """Change the first line that has the text; its id is that of its content again."""

    def forge(ledger: Path) -> None:
        lines = read(ledger, kind)
        number = next(number for number, line in enumerate(lines) if re.search(old.encode(), line))
        lines[number] = re.sub(old.encode(), new.encode(), lines[number], count=1)
        if kind in ("records", "invalid"):
            lines[number] = with_own_id(lines[number])
        write(ledger, kind, lines)

    return forge


def invalid_to_valid(ledger: Path) -> None:
    first, *rest = read(ledger, "invalid")
    line = first[: first.rindex(b',"reasons":[')] + b"}\n"
    write(ledger, "invalid", rest)
    write(
        ledger, "records", [*read(ledger, "records"), with_own_id(line.replace(b'"A_structure":9', b'"A_structure":2'))]
    )
    recount(ledger, key_of(first)[0], valid=1, invalid=-1)


def valid_to_invalid(ledger: Path) -> None:
    reasons = read(ledger, "invalid")[0]
    first, *rest = read(ledger, "records")
    write(ledger, "records", rest)
    write(ledger, "invalid", [*read(ledger, "invalid"), first[:-2] + reasons[reasons.rindex(b',"reasons":[') :]])
    recount(ledger, key_of(first)[0], valid=-1, invalid=1)


def swapped_records(ledger: Path) -> None:
    lines = read(ledger, "records")
    for number, index in (
        (0, b'"index":2,"pointer":"/per_file_scores/2"'),
        (1, b'"index":0,"pointer":"/per_file_scores/0"'),
    ):
        lines[number] = with_own_id(re.sub(rb'"index":\d,"pointer":"/per_file_scores/\d"', index, lines[number]))
    write(ledger, "records", lines)


def removed_record(ledger: Path) -> None:
    *_, last = (line for line in read(ledger, "records") if key_of(line)[0] == key_of(read(ledger, "records")[0])[0])
    write(ledger, "records", [line for line in read(ledger, "records") if line != last])
    recount(ledger, key_of(last)[0], valid=-1, invalid=0)


def added_record(ledger: Path) -> None:
    last = read(ledger, "records")[-1]
    more = re.sub(rb'"index":3,"pointer":"/per_file_scores/3"', b'"index":4,"pointer":"/per_file_scores/4"', last)
    write(ledger, "records", [*read(ledger, "records"), with_own_id(more)])
    recount(ledger, key_of(last)[0], valid=1, invalid=0)


def removed_bundle(ledger: Path) -> None:
    """A bundle that was read becomes one that nothing could be made from."""
    sha256 = key_of(read(ledger, "headers")[0])[0]
    for kind in ("records", "invalid", "headers"):
        write(ledger, kind, [line for line in read(ledger, kind) if key_of(line)[0] != sha256])
    model = read(ledger, "audit")[0]
    write(ledger, "audit", [*read(ledger, "audit"), model.replace(key_of(model)[0], sha256)])


def swapped_settings(ledger: Path) -> None:
    """Another manifest, to which all headers refer; its own hash is right."""
    [path] = [path for path in (ledger / "settings").iterdir() if '"files"' in path.read_text()]
    document = json.loads(path.read_text())
    document["files"].pop()
    text = dumps({**document, "phase": json.loads("1")})
    digest = hashlib.sha256(text.encode()).hexdigest()
    path.unlink()
    (ledger / "settings" / f"{digest}.json").write_text(text + "\n")
    for kind in ("headers", "audit"):
        lines = [line.replace(path.stem.encode(), digest.encode()) for line in read(ledger, kind)]
        write(ledger, kind, lines)


FORGERIES: dict[str, Callable[[Path], None]] = {
    "a score": edited("records", '"A_structure":1', '"A_structure":2'),
    "a score of an INVALID record": edited("invalid", '"A_structure":9', '"A_structure":8'),
    "evidence": edited("records", "quoted a", "quoted z"),
    "a judge": edited("records", '"judge_model":"judge-large"', '"judge_model":"judge-small"'),
    "a generator": edited("records", '"generator_model":"writer-small"', '"generator_model":"writer-large"'),
    "a phase": edited("records", '"phase":1', '"phase":2'),
    "a reason": edited("invalid", '"message":"', '"message":"not '),
    "INVALID becomes VALID": invalid_to_valid,
    "VALID becomes INVALID": valid_to_invalid,
    "two records trade places": swapped_records,
    "a record is gone": removed_record,
    "a record more": added_record,
    "a header": edited("headers", '"run_id":"run-', '"run_id":"ran-'),
    "a header's reasons": edited("headers", r'"reasons":\[.*\]}', '"reasons":[]}'),
    "an unreadable bundle's reason": edited("audit", '"not_an_object"', '"no_entries"'),
    "an unreadable bundle's size": edited("audit", '"bytes":2', '"bytes":3'),
    "a bundle becomes unreadable": removed_bundle,
    "a settings document": swapped_settings,
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_audit_notices(ledger, capsys, forgery):
    before = {kind: read(ledger, kind) for kind in ("records", "invalid", "headers", "audit")}
    FORGERIES[forgery](ledger)
    assert before != {kind: read(ledger, kind) for kind in before}
    capsys.readouterr()
    assert main(["audit", str(ledger), "--format", "json"]) == 1
    told = capsys.readouterr()
    report = json.loads(told.out)
    assert spec.violations("eval/audit_report.json", report) == []
    assert report["verified"]["bundles"] < 5
    assert re.search(r"bundle [0-9a-f]{64}: line \d+ of \w+\.jsonl is not what its raw bytes give", told.err)


COMPUTING = {
    "aggregate": ["LEDGER"],
    "agreement": ["LEDGER"],
    "aggregate --sensitivity": ["LEDGER", "--sensitivity"],
    "report": ["LEDGER", "--out", "PAGE"],
    "check": ["TABLE", "LEDGER"],
    "export": ["LEDGER", "--to", "jsonl"],
}


def argv(command: str, ledger: Path) -> list[str]:
    places = {"LEDGER": ledger, "PAGE": ledger.parent / "p.html", "TABLE": ledger.parent / "table.csv"}
    places["FOLDER"] = ledger.parent
    return [command.split()[0], *(str(places.get(word, word)) for word in COMPUTING[command])]


@pytest.mark.parametrize("forgery", FORGERIES)
@pytest.mark.parametrize("command", ["aggregate", "report", "check"])
def test_verify_refuses(ledger, capsys, command, forgery):
    FORGERIES[forgery](ledger)
    capsys.readouterr()
    assert main([*argv(command, ledger), "--verify"]) == 2
    said = capsys.readouterr()
    assert re.search(r"bundle [0-9a-f]{64}: ", said.err)
    assert said.out == ""
    assert not (ledger.parent / "p.html").exists()


def test_verify_refuses_a_ledger_that_forgot_an_unreadable_bundle(ledger, capsys):
    write(ledger, "audit", read(ledger, "audit")[1:])
    assert main(argv("aggregate", ledger)) == 0
    capsys.readouterr()
    assert main([*argv("aggregate", ledger), "--verify"]) == 2
    assert "it keeps 5 raw bundles and accounts for 4" in capsys.readouterr().err


@pytest.mark.parametrize("command", COMPUTING)
def test_verify_names_bundle_and_line_in_every_command_that_computes(ledger, capsys, command):
    FORGERIES["evidence"](ledger)
    assert main(argv(command, ledger)) in (0, 1)
    capsys.readouterr()
    assert main([*argv(command, ledger), "--verify"]) == 2
    assert re.search(r"bundle [0-9a-f]{64}: line 1 of records\.jsonl is not what", capsys.readouterr().err)


@pytest.mark.parametrize("command", COMPUTING)
def test_an_honest_ledger_is_verified_and_gives_the_numbers_it_gives_without(honest, ledger, capsys, command):
    capsys.readouterr()
    status = main(argv(command, ledger))
    plain = capsys.readouterr().out
    assert main([*argv(command, ledger), "--verify"]) == status
    assert capsys.readouterr().out == plain


@pytest.mark.parametrize("command", COMPUTING)
@pytest.mark.parametrize("kind", ["records", "invalid"])
def test_a_changed_record_with_its_old_id_is_refused_without_verify(ledger, capsys, command, kind):
    path = ledger / f"{kind}.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"B_snapshot_constraint":1', b'"B_snapshot_constraint":0'))
    capsys.readouterr()
    words = argv(command, ledger)
    if (kind, command) == ("invalid", "export"):  # which reads them only if it is asked for them
        assert main(words) == 0
        words.append("--invalid")
    assert main(words) == 2
    said = capsys.readouterr().err
    assert re.search(rf"{kind}\.jsonl was changed: lines? 1 .*do not have the digest", said)


def test_explain_refuses_a_record_that_is_not_what_its_bundle_gives(ledger, capsys):
    whole = json.loads(read(ledger, "records")[0])["record_id"]
    assert main(["explain", str(ledger), whole, "--verify"]) == 0
    FORGERIES["a score"](ledger)
    forged = json.loads(read(ledger, "records")[0])["record_id"]
    capsys.readouterr()
    assert main(["explain", str(ledger), forged]) == 0
    assert main(["explain", str(ledger), forged, "--verify"]) == 2
    assert "line 1 of records.jsonl is not what its raw bytes give" in capsys.readouterr().err
    lines = read(ledger, "records")
    write(ledger, "records", [lines[0].replace(b'"A_structure":2', b'"A_structure":0'), *lines[1:]])
    assert main(["explain", str(ledger), forged]) == 2
    assert "does not have the id of its content" in capsys.readouterr().err


def under_another_protocol(ledger: Path) -> None:
    for kind in ("headers", "audit"):
        lines = read(ledger, kind)
        write(ledger, kind, [line.replace(protocol.version().encode(), b"eval-0123456789abcdef") for line in lines])


def test_what_another_protocol_version_made_is_told_as_not_verified(ledger, capsys):
    capsys.readouterr()
    assert main(["audit", str(ledger), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["verified"] == {"bundles": 5, "not_verifiable": []}
    under_another_protocol(ledger)
    assert main(["audit", str(ledger), "--format", "json"]) == 1
    told = capsys.readouterr()
    report = json.loads(told.out)
    assert report["verified"] == {
        "bundles": 0,
        "not_verifiable": [{"protocol": "eval-0123456789abcdef", "bundles": 5}],
    }
    assert report["problems"] == []
    assert "not verified: 5 bundles of protocol eval-0123456789abcdef" in told.err
    assert main(["audit", str(ledger)]) == 1
    assert "verified: 0 of 5 bundles" in capsys.readouterr().out
    assert main(["aggregate", str(ledger)]) == 0
    assert main(["aggregate", str(ledger), "--verify"]) == 2
    assert "under protocol eval-0123456789abcdef" in capsys.readouterr().err


def test_several_jobs_tell_what_one_tells(ledger, capsys):
    FORGERIES["INVALID becomes VALID"](ledger)
    FORGERIES["an unreadable bundle's size"](ledger)
    capsys.readouterr()
    told = []
    for jobs in ("1", "2"):
        assert main(["audit", str(ledger), "--format", "json", "--jobs", jobs]) == 1
        told.append(capsys.readouterr())
    assert told[0] == told[1]


@pytest.mark.parametrize("question", [["--claims"], ["--artifacts", "."]])
def test_an_audit_answers_no_question_about_forged_records(ledger, capsys, question):
    FORGERIES[min(FORGERIES)](ledger)
    capsys.readouterr()
    assert main(["audit", str(ledger), *question]) == 2
    assert main(["audit", str(ledger), *question, "--no-verify"]) in (0, 1)


@pytest.mark.parametrize(
    ("flags", "cure"),
    [
        (["--claims", "--artifacts", "."], "ask one at a time"),
        (["--all"], "--all goes with --claims"),
        (["--signature", "x"], "--signers FILE and --signer NAME"),
    ],
)
def test_an_audit_asks_one_question_with_all_that_it_needs(ledger, capsys, flags, cure):
    assert main(["audit", str(ledger), *flags]) == 2
    assert cure in capsys.readouterr().err
