"""The ledger: the same bytes whatever the order, the number of runs or of jobs; and nothing silently replaced."""

import fcntl
import json
import os
import random
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import contract_spec as spec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from normalizer.cli import main
from normalizer.errors import UnusableLedger
from normalizer.ledger.line_format import FILES
from normalizer.ledger.reader import hold_lock, reading
from tests.support.bundles import bundle, entry


def tree(folder: Path) -> dict[str, bytes]:
    """Every file of a ledger and its bytes."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def made(folder: Path, count: int) -> list[Path]:
    """Bundles of several kinds: valid, partly invalid, not readable."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for number in range(count):
        document = bundle(*(entry(f"{item}.pdf") for item in range(3)), run_id=f"run-{number}")
        if number % 3 == 1:
            document["per_file_scores"][1]["scores"]["A_structure"] = 9
        text = json.dumps(document) if number % 4 != 3 else f"```\n{number}\n```"
        paths.append(folder / f"{number}.json")
        paths[-1].write_text(text)
    return paths


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    paths = made(folder / "bundles", 9)
    assert main(["normalize", *map(str, paths), "--out", str(folder / "ledger")]) == 1
    return paths, tree(folder / "ledger")


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), cuts=st.lists(st.integers(0, 9), max_size=3))
def test_order_repetition_and_number_of_runs_do_not_matter(study, seed, cuts, tmp_path_factory):
    paths, expected = study
    shuffled = random.Random(seed).sample([*paths, *paths[:3]], len(paths) + 3)
    ledger = tmp_path_factory.mktemp("shuffled") / "ledger"
    bounds = sorted({0, *cuts, len(shuffled)})
    for start, stop in pairwise(bounds):
        assert main(["normalize", *map(str, shuffled[start:stop]), "--out", str(ledger)]) in (0, 1)
    assert tree(ledger) == expected


@pytest.mark.parametrize("jobs", ["2", "5"])
def test_the_number_of_jobs_does_not_matter(study, jobs, tmp_path):
    paths, expected = study
    command = [sys.executable, "-m", "normalizer", "normalize", *map(str, paths), "--out", str(tmp_path / "l")]
    done = subprocess.run([*command, "--jobs", jobs], stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    told = done.stderr.splitlines()
    assert [line.partition(":")[0] for line in told[:3]] == ["bundles", "entries", "ledger"]
    assert told[3].startswith(f"{paths[3]} is unreadable: not_strict_json") or "7.json is unreadable" in told[3]
    assert (
        done.stderr
        == subprocess.run([*command[:-1], str(tmp_path / "again")], stderr=subprocess.PIPE, text=True).stderr
    )
    assert tree(tmp_path / "l") == expected


def test_a_folder_means_all_json_below_it_but_not_the_ledger_nor_the_documents(tmp_path, capsys):
    made(tmp_path / "runs" / "deep", 2)
    (tmp_path / "runs" / "notes.txt").write_text("no bundle")
    manifest = tmp_path / "runs" / "run.json"
    manifest.write_text(json.dumps({"files": [{"file": f"{number}.pdf"} for number in range(3)]}))
    command = [
        "normalize",
        str(tmp_path / "runs"),
        "--out",
        str(tmp_path / "runs" / "ledger"),
        "--manifest",
        str(manifest),
    ]
    for expected in (
        "bundles: 2 in = 2 read + 0 unreadable + 0 duplicates",
        "2 in = 0 read + 0 unreadable + 2 duplicates",
    ):
        main(command)
        assert expected in capsys.readouterr().err


def test_standard_input_is_a_bundle(tmp_path):
    command = [sys.executable, "-m", "normalizer", "normalize", "-", "--out", str(tmp_path / "l")]
    done = subprocess.run(command, input=json.dumps(bundle()).encode(), capture_output=True)
    assert done.returncode == 0
    assert done.stdout == b""
    assert (
        b"bundles: 1 in = 1 read + 0 unreadable + 0 duplicates\nentries: 1 in = 1 valid + 0 invalid + 0 unreadable\n"
        in done.stderr
    )


def test_the_same_bundle_under_other_settings_is_refused_unless_replaced(tmp_path, capsys):
    [path] = made(tmp_path / "b", 1)
    ledger, fresh = tmp_path / "ledger", tmp_path / "fresh"
    manifest = tmp_path / "manifest.json"
    manifest.write_text(json.dumps({"files": [{"file": "0.pdf"}]}))
    assert main(["normalize", str(path), "--out", str(ledger)]) == 0
    before = tree(ledger)
    under = ["--manifest", str(manifest)]
    assert main(["normalize", str(path), "--out", str(ledger), *under]) == 2
    assert "another manifest" in capsys.readouterr().err
    assert tree(ledger) == before
    assert main(["normalize", str(path), str(path), "--out", str(ledger), *under, "--replace"]) == 1
    assert main(["normalize", str(path), "--out", str(fresh), *under]) == 1
    assert tree(ledger) == tree(fresh)
    manifest.write_text(json.dumps({"files": [{"file": "0.pdf"}]}, indent=4))
    assert main(["normalize", str(path), "--out", str(ledger), *under]) == 1  # laid out anew, it is no other manifest


def test_replacing_some_bundles_leaves_the_others(tmp_path):
    paths = made(tmp_path / "b", 9)
    ledger, fresh = tmp_path / "ledger", tmp_path / "fresh"
    rubric = tmp_path / "rubric.json"
    rubric.write_text(
        json.dumps({"name": "own", "dimensions": {"x": {"scale": {"kind": "integers", "minimum": 0, "maximum": 1}}}})
    )
    main(["normalize", *map(str, paths), "--out", str(ledger)])
    main(["normalize", *map(str, paths[:4]), "--out", str(ledger), "--rubric", str(rubric), "--replace"])
    main(["normalize", *map(str, paths[4:]), "--out", str(fresh)])
    main(["normalize", *map(str, paths[:4]), "--out", str(fresh), "--rubric", str(rubric)])
    assert tree(ledger) == tree(fresh)


def test_a_known_bundle_with_something_invalid_still_says_so(tmp_path):
    paths = made(tmp_path / "b", 4)
    for _ in range(2):
        assert main(["normalize", str(paths[0]), "--out", str(tmp_path / "good")]) == 0
        assert main(["normalize", str(paths[1]), "--out", str(tmp_path / "bad")]) == 1
        assert main(["normalize", str(paths[3]), "--out", str(tmp_path / "audited")]) == 1


def test_a_folder_with_something_else_in_it_is_left_alone(tmp_path, capsys):
    (tmp_path / "thesis.tex").write_text("years of work")
    [path] = made(tmp_path / "b", 1)
    assert main(["normalize", str(path), "--out", str(tmp_path)]) == 2
    assert "something else than a ledger" in capsys.readouterr().err
    assert sorted(item.name for item in tmp_path.iterdir()) == ["b", "thesis.tex"]


@pytest.mark.parametrize("missing", ["nowhere.json", "empty"])
def test_what_cannot_be_read_stops_the_run_before_anything_changes(missing, tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    [path] = made(tmp_path / "b", 1)
    ledger = tmp_path / "ledger"
    main(["normalize", str(path), "--out", str(ledger)])
    before = tree(ledger)
    assert main(["normalize", *map(str, made(tmp_path / "c", 2)), str(tmp_path / missing), "--out", str(ledger)]) == 2
    assert missing in capsys.readouterr().err
    assert tree(ledger) == before


@pytest.mark.parametrize("names", [["nowhere.json"], ["empty"], ["b", "nowhere.json"], ["fifo"]])
@pytest.mark.parametrize("there", [False, True])
def test_a_refused_run_leaves_nothing_behind(names, there, tmp_path, capsys):
    made(tmp_path / "b", 1)
    (tmp_path / "empty").mkdir()
    os.mkfifo(tmp_path / "fifo")
    out = tmp_path / "studies" / "first" / "ledger"
    if there:
        out.mkdir(parents=True)
    before = sorted(tmp_path.rglob("*"))
    assert main(["normalize", *(str(tmp_path / name) for name in names), "--out", str(out)]) == 2
    assert names[-1] in capsys.readouterr().err
    assert sorted(tmp_path.rglob("*")) == before


def test_a_run_that_is_refused_keeps_the_lock_file_of_another(tmp_path):
    ledger = tmp_path / "ledger"
    ledger.mkdir()
    with hold_lock(ledger, "write"):
        assert main(["normalize", str(tmp_path / "nowhere.json"), "--out", str(ledger)]) == 2
        assert (ledger / ".lock").exists()


def test_a_lock_on_a_file_that_was_removed_keeps_nobody_out(tmp_path, monkeypatch):
    """It is removed between the opening of the file and its locking."""
    take = fcntl.flock

    def removed_before(descriptor, how):
        (tmp_path / ".lock").unlink()
        take(descriptor, how)

    monkeypatch.setattr(fcntl, "flock", removed_before)
    with pytest.raises(UnusableLedger, match="try again"), hold_lock(tmp_path, "write"):
        pass
    monkeypatch.undo()
    (tmp_path / "gone").mkdir()
    with pytest.raises(UnusableLedger, match="No such file"), hold_lock(tmp_path / "gone" / "more", "write"):
        pass


def test_a_second_run_at_the_same_time_is_told_so(tmp_path, capsys):
    [path] = made(tmp_path / "b", 1)
    ledger = tmp_path / "ledger"
    main(["normalize", str(path), "--out", str(ledger)])
    with hold_lock(ledger, "write"):
        assert main(["normalize", str(path), "--out", str(ledger)]) == 2
        assert main(["audit", str(ledger)]) == 2
        assert capsys.readouterr().err.count("another run is using") == 2
    assert main(["audit", str(ledger)]) == 0


def test_runs_that_race_for_one_ledger_leave_it_whole(study, tmp_path):
    paths, expected = study
    ledger = tmp_path / "ledger"
    command = [sys.executable, "-m", "normalizer", "normalize", "--out", str(ledger)]
    racing = [subprocess.Popen([*command, str(path)], stderr=subprocess.PIPE, text=True) for path in paths[:6]]
    for process in racing:
        _, said = process.communicate()
        assert process.returncode in (0, 1, 2)
        assert "Traceback" not in said
    assert subprocess.run([*command, *map(str, paths)], stderr=subprocess.DEVNULL).returncode == 1
    assert tree(ledger) == expected


def test_lines_of_a_bundle_are_found_by_bisection(study, tmp_path):
    paths, _ = study
    ledger = tmp_path / "ledger"
    main(["normalize", *map(str, paths), "--out", str(ledger)])
    with reading(ledger) as opened:
        for kind in FILES:
            every = list(opened.lines(kind))
            found = [
                line for path in sorted((ledger / "bundles").glob("*/*")) for line in opened.lines_of(kind, path.stem)
            ]
            assert found == every
        assert list(opened.lines_of("records", "0" * 64)) == []
        assert list(opened.lines_of("records", "f" * 64)) == []


def test_a_changed_raw_bundle_is_not_given_back(tmp_path):
    [path] = made(tmp_path / "b", 1)
    ledger = tmp_path / "ledger"
    main(["normalize", str(path), "--out", str(ledger)])
    [raw] = (ledger / "bundles").glob("*/*")
    raw.write_bytes(raw.read_bytes() + b" ")
    with reading(ledger) as opened, pytest.raises(UnusableLedger, match="was changed"):
        opened.bundle(raw.stem)


def test_limits_that_a_run_sets_decide_are_kept_and_verified(tmp_path):
    path = tmp_path / "bundle.json"
    path.write_text(json.dumps(bundle(*(entry(f"{item}.pdf") for item in range(3)))))
    ledger = str(tmp_path / "ledger")
    assert main(["normalize", str(path), "--max-entries", "2", "--out", ledger]) == 1
    item = json.loads(Path(ledger, "audit.jsonl").read_text())
    assert item["reasons"][0]["message"] == "per_file_scores has 3 entries, more than 2"
    assert json.loads(Path(ledger, "settings", f"{item['settings']['limits']}.json").read_text()) == {"max_entries": 2}
    assert main(["audit", ledger]) == 0
    assert main(["normalize", str(path), "--out", ledger]) == 2  # under other limits: a decision for --replace
    assert main(["normalize", str(path), "--replace", "--out", ledger]) == 0
    assert main(["normalize", str(path), "--max-bundle-bytes", "100", "--replace", "--out", ledger]) == 1
    assert "more than the 100 a bundle may have" in Path(ledger, "audit.jsonl").read_text()
    assert main(["audit", ledger]) == 0


@pytest.mark.parametrize("flag", ["--max-entries", "--max-bundle-bytes"])
def test_limits_of_bundles_are_refused_where_rows_are_read(tmp_path, capsys, flag):
    (tmp_path / "rows.jsonl").write_text("{}\n")
    argv = ["normalize", str(tmp_path / "rows.jsonl"), "--dialect", "mt-bench", flag, "5", "--out", str(tmp_path / "l")]
    assert main(argv) == 2
    assert f"{flag} is for judge bundles" in capsys.readouterr().err
    assert not (tmp_path / "l").exists()


def last_line(tmp_path, capsys, documents, *options):
    paths = []
    for number, document in enumerate(documents):
        paths.append(tmp_path / f"{number}.json")
        paths[-1].write_text(document if isinstance(document, str) else json.dumps(document))
    capsys.readouterr()
    assert main(["normalize", *map(str, paths), "--out", str(tmp_path / "ledger"), *options]) == 1
    return capsys.readouterr().err.splitlines()[-1]


def test_one_reason_for_everything_stands_at_the_end_with_its_cure(tmp_path, capsys):
    other = {"file": "a", "scores": {"quality": 7}}
    run = {"phase": 1, "protocol_version": "p", "judge_model": "j", "generator_model": "g"}
    said = last_line(tmp_path, capsys, [{**run, "run_id": str(n), "per_file_scores": [other]} for n in range(12)])
    assert said.startswith(
        "nothing is valid, all of it because of dimension_missing: the entries are scored by another"
    )
    assert "the rubric prompt-drift-v1: give theirs with --rubric FILE; `normalizer guess FILE` proposes one" in said


def test_a_forgotten_dialect_is_said_once_with_the_command_that_proposes_one(tmp_path, capsys):
    said = last_line(tmp_path, capsys, ['{"a": 1}\n{"a": 2}\n', '{"a": 3}\n{"a": 4}\n'])
    assert said.startswith("a file that is no judge bundle needs a dialect: normalizer guess ")


def test_a_key_that_stands_twice_is_mended_in_the_file_which_guess_does_not_read_either(tmp_path, capsys):
    dialect = {
        "name": "report",
        "container": [{"kind": "json", "rows": "/results/*"}],
        "fields": {"file": {"at": "/id"}, "scores": {"overall": {"at": "/r"}}},
    }
    (tmp_path / "dialect.json").write_text(json.dumps(dialect))
    rows = '{"a": 1, "results": [{"id": "x", "r": 3}, {"id": "y", "r": 4}], "a": 2}'
    said = last_line(tmp_path, capsys, [rows], "--dialect", str(tmp_path / "dialect.json"))
    assert "such as a key that stands twice, is mended in the file, since no dialect reads past it" in said


def test_two_dialects_are_refused_and_two_commands_fill_one_ledger(tmp_path, capsys):
    ledger = str(tmp_path / "ledger")
    made = []
    for name, between in (("one", ";"), ("two", "|")):
        rubric = {"name": "r", "dimensions": {"score": {"scale": {"kind": "integers", "minimum": 1, "maximum": 5}}}}
        fields = {
            "file": {"at": "/id"},
            "scores": {"score": {"at": "/score", "number": ["plain"]}},
            "judge_model": {"text": "j"},
            "generator_model": {"text": name},
        }
        container = [{"kind": "csv", "delimiter": between}]
        dialect = {"name": name, "phase": 1, "protocol_version": "this", "container": container, "fields": fields}
        (tmp_path / f"{name}.json").write_text(json.dumps({**dialect, "rubric": rubric}))
        (tmp_path / f"{name}.csv").write_text(f"id{between}score\n1{between}3\n")
        made.append((str(tmp_path / f"{name}.csv"), "--dialect", str(tmp_path / f"{name}.json")))
    for command in (["normalize", "--out", ledger], ["compare"]):
        assert main([*command, *made[0], *made[1]]) == 2
        assert "--dialect is given 2 times" in capsys.readouterr().err
    for words in made:
        assert main(["normalize", *words, "--out", ledger]) == 0
    assert "2 entries = 2 valid" in capsys.readouterr().err


def test_no_cure_is_named_where_reasons_differ_or_something_is_valid(tmp_path, capsys):
    sound, broken = bundle(entry("a")), bundle({"file": "a", "scores": {"quality": 7}}, phase=1)
    assert "nothing is valid" not in last_line(tmp_path, capsys, [sound, "{"])
    assert "nothing is valid" not in last_line(tmp_path, capsys, [broken, "["], "--set", "generator_model=g")


def test_every_cure_is_of_a_code_and_fits_one_line():
    codes = spec.schema("eval/reason.json")["$defs"]["code"]["enum"]
    cures = spec.resource("rules/cures.json")
    assert set(cures) <= set(codes)
    for cure in cures.values():
        assert cure.format(rubric="r").isprintable()
