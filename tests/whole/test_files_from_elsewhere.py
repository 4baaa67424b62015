"""Files of other tools through the command line: into a ledger, out of it again, and found in between."""

import json
import random
from pathlib import Path

import pytest

from normalizer.cli import main
from normalizer.containers import shipped
from tests.normalizer.containers.test_shipped import CASES, FOLDER, archived, fixture

STATED = ("--set", "phase=1", "--set", "protocol_version=p-1")


def run(*argv, status=0):
    assert main([str(part) for part in argv]) == status, argv


def taken(folder: Path):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != ".lock"
    }


@pytest.fixture
def logs(tmp_path):
    """Several Inspect logs, in both forms, one of them cut off."""
    folder = tmp_path / "logs"
    folder.mkdir()
    document = json.loads(fixture("inspect"))
    for number in range(6):
        document["eval"]["run_id"] = f"r{number}"
        data = json.dumps(document).encode()
        (folder / f"{number}.json").write_bytes(data if number else data[:-20])
        (folder / f"{number}.eval").write_bytes(archived(data))
    return folder


def test_order_and_jobs_do_not_matter_and_everything_verifies(logs, tmp_path, capsys):
    files = sorted(logs.iterdir())
    normalize = ("normalize", "--dialect", "inspect", "--set", "judge_model=j", *STATED)
    run(*normalize, *files, "--out", tmp_path / "one", status=1)
    said = capsys.readouterr().err
    assert "bundles: 12 in = 11 read + 1 unreadable + 0 duplicates" in said
    assert f"{logs / '0.json'} is unreadable: container_unreadable: it is not JSON" in said
    random.Random(5).shuffle(files)
    for file in files[:3]:
        run(*normalize, file, "--out", tmp_path / "two", status=1)
    run(*normalize, logs, "--out", tmp_path / "two", "--jobs", "2", status=1)
    assert taken(tmp_path / "one") == taken(tmp_path / "two")
    run("audit", tmp_path / "one")


@pytest.mark.parametrize("name", sorted(CASES))
def test_what_was_taken_in_comes_out_again(name, tmp_path, capsysbinary):
    [path] = FOLDER.glob(f"{name}.*")
    stated = [part for field in CASES[name][4] for part in ("--set", f"{field}=stated-{field}")]
    ledger = tmp_path / "ledger"
    flawed = int(any(CASES[name][1:3]))
    run("normalize", path, "--dialect", name, *STATED, *stated, "--out", ledger, status=flawed)
    [bundle] = (ledger / "bundles").glob("*/*")
    capsysbinary.readouterr()
    run("restore", ledger, bundle.stem)
    assert capsysbinary.readouterr().out == path.read_bytes()
    run("restore", ledger, bundle.stem[:12], "--from-records")
    assert capsysbinary.readouterr().out == path.read_bytes()
    run("audit", ledger)
    capsysbinary.readouterr()
    run("list", ledger, "--format", "json")
    listed = [json.loads(line) for line in capsysbinary.readouterr().out.splitlines()]
    assert len(listed) == sum(CASES[name][:3])
    for item in listed:
        run("explain", ledger, item["id"])
        shown = capsysbinary.readouterr().out.decode()
        assert all(f"\n{code}: " in shown for code in item["reasons"])


def test_rows_of_an_archive_are_compared_with_its_members(tmp_path, capsysbinary):
    path, ledger = tmp_path / "log.eval", tmp_path / "ledger"
    path.write_bytes(archived(fixture("inspect")))
    run("normalize", path, "--dialect", "inspect", *STATED, "--set", "judge_model=j", "--out", ledger, status=1)
    assert (
        "judge_failed at /scores/style/value/depth: in samples/q3_epoch_1.json: the judge gave"
        in capsysbinary.readouterr().err.decode()
    )
    [bundle] = (ledger / "bundles").glob("*/*")
    run("restore", ledger, bundle.stem, "--from-records")
    samples = [json.dumps(sample) for sample in json.loads(fixture("inspect"))["samples"]]
    assert [json.dumps(json.loads(line)) for line in capsysbinary.readouterr().out.splitlines()] == samples
    run("explain", ledger, "capitals/q1/epoch-1")
    assert "samples/q1_epoch_1.json" in capsysbinary.readouterr().out.decode()


def test_a_forged_row_is_noticed(tmp_path, capsys):
    ledger = tmp_path / "ledger"
    run("normalize", FOLDER / "mt-bench.jsonl", "--dialect", "mt-bench", *STATED, "--out", ledger, status=1)
    records = ledger / "records.jsonl"
    records.write_text(records.read_text().replace('"rating":9', '"rating":1', 1))
    run("audit", ledger, status=1)
    [bundle] = (ledger / "bundles").glob("*/*")
    assert bundle.stem in capsys.readouterr().err


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["--dialect", "mtbench"], "did you mean mt-bench"),
        (["--dialect", "mt-bench", "--set", "judge=x"], "did you mean judge_kind or judge_model"),
        (["--dialect", "mt-bench", "--set", "judge_model"], "write FIELD=VALUE"),
        (["--dialect", "mt-bench", "--set", "phase=7"], "phase"),
        (["--dialect", "mt-bench", "--set", "run_id=a", "--set", "run_id=b"], "given twice"),
        (["--container", "jsonl"], "--container goes with --dialect"),
        (["--dialect", "mt-bench", "--container", "xml"], "must be jsonl, csv, json or json:POINTER"),
        (["--dialect", "mt-bench", "--container", "jsonl:/a"], "must be jsonl, csv, json or json:POINTER"),
        (["--dialect", "mt-bench", "--container", "json:a"], "/container/0/rows"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_what_could_be(argv, says, tmp_path, capsys):
    run("normalize", FOLDER / "mt-bench.jsonl", *argv, "--out", tmp_path / "ledger", status=2)
    assert says in capsys.readouterr().err
    assert not (tmp_path / "ledger").exists()


def test_a_ledger_of_rows_is_listed_by_reason_and_by_file(tmp_path, capsys):
    ledger = tmp_path / "ledger"
    run("normalize", FOLDER / "mt-bench.jsonl", "--dialect", "mt-bench", *STATED, "--out", ledger, status=1)
    capsys.readouterr()
    counts = {}
    for option in (
        ["--valid"],
        ["--invalid"],
        ["--unreadable"],
        ["--reason", "judge_failed"],
        ["--file", "82/turn-1"],
    ):
        run("list", ledger, *option)
        counts[option[-1]] = len(capsys.readouterr().out.splitlines()[1:])  # below the names of columns
    assert counts == {"--valid": 3, "--invalid": 2, "--unreadable": 1, "judge_failed": 1, "82/turn-1": 1}
    run("list", ledger, "--reason", "judge_fail", status=2)
    assert "did you mean judge_failed" in capsys.readouterr().err


@pytest.mark.parametrize("name", sorted(CASES))
def test_the_dialect_of_a_fixture_is_proposed_first(name, capsys):
    [path] = FOLDER.glob(f"{name}.*")
    run("guess", path)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"The shipped dialect {name} reads it."
    assert lines[-2].startswith(f"normalizer normalize {path} --dialect {name}")


def langfuse_rows():
    return [json.loads(line) for line in fixture("langfuse").splitlines()]


@pytest.mark.parametrize(
    ("container", "data"),
    [
        ("json:/found/*", json.dumps({"found": langfuse_rows(), "meta": {"page": 1}})),
        ("json:/rows/*", json.dumps({"rows": langfuse_rows()}, indent=1)),
        ("json:/export/scores/*", json.dumps({"export": {"scores": langfuse_rows()}})),
    ],
)
def test_rows_in_another_container_are_proposed_and_read(container, data, tmp_path, capsysbinary):
    (tmp_path / "scores").write_text(data)
    run("guess", tmp_path / "scores")
    proposed = capsysbinary.readouterr().out.decode()
    assert f"--dialect langfuse --container '{container}'" in proposed.splitlines()[-2]
    stated = ("--set", "judge_model=j", "--set", "generator_model=g")
    ledger = tmp_path / "ledger"
    as_lines = ("normalize", FOLDER / "langfuse.jsonl", "--dialect", "langfuse", *STATED, *stated, "--out")
    run(*as_lines, tmp_path / "lines", status=1)
    other = ("--container", container)
    run("normalize", tmp_path / "scores", "--dialect", "langfuse", *other, *STATED, *stated, "--out", ledger, status=1)
    told = capsysbinary.readouterr().err.decode()
    assert told.count("entries: 6 in = 5 valid + 1 invalid + 0 unreadable") == 2
    [bundle] = (ledger / "bundles").glob("*/*")
    run("restore", ledger, bundle.stem, "--from-records")
    assert capsysbinary.readouterr().out.decode() == data
    run("audit", ledger)


def test_scores_off_the_scale_of_a_shipped_dialect_are_read_by_a_dialect_of_their_own(tmp_path, capsys):
    rows = [{**row, "value": 4 + number % 2} for number, row in enumerate(langfuse_rows())]
    (tmp_path / "scores").write_text("".join(json.dumps(row) + "\n" for row in rows))
    run("guess", tmp_path / "scores")
    said = capsys.readouterr().out
    assert "shipped" not in said
    assert "value 4 to 5" in said


def test_the_first_reason_of_each_kind_is_shown_with_the_number_of_others(tmp_path, capsys):
    rows = [{"question_id": n, "model": "m", "judge": ["j", "p"], "turn": 1, "score": -1} for n in range(9)]
    rows.append({**rows[0], "question_id": 99, "score": 77})
    (tmp_path / "scores").write_text("".join(json.dumps(row) + "\n" for row in rows))
    run("normalize", tmp_path / "scores", "--dialect", "mt-bench", *STATED, "--out", tmp_path / "ledger", status=1)
    [*_, failed, off] = capsys.readouterr().err.splitlines()
    assert failed.endswith("the judge gave no verdict: it is -1 at /score (and 8 more)")
    assert off.endswith("not 77")


@pytest.mark.parametrize(
    ("score", "says"),
    [
        ({"of": "part", "star": 3, "at": ""}, "the dialect names the * number 3, and its /split has 2 of them"),
        ({"star": 1, "at": "/x"}, "star goes with key, or with at and of: part"),
    ],
)
def test_a_star_that_cannot_be_meant_is_refused(score, says, tmp_path, capsys):
    dialect = {
        "name": "d",
        "container": [{"kind": "jsonl"}],
        "split": "/a/*/b/*",
        "fields": {"file": {"at": "/q"}, "scores": {"overall": score}},
    }
    (tmp_path / "dialect.json").write_text(json.dumps(dialect))
    (tmp_path / "rows").write_text('{"q":1}\n')
    run("normalize", tmp_path / "rows", "--dialect", tmp_path / "dialect.json", "--out", tmp_path / "l", status=2)
    assert says in capsys.readouterr().err


def test_every_shipped_dialect_is_listed_and_printed(capsys):
    run("dialects")
    listed = capsys.readouterr().out
    for name in CASES:
        assert f"\n{name} " in f"\n{listed}"
        run("dialects", name)
        assert json.loads(capsys.readouterr().out)["name"] == name


JOIN = {
    "name": "joined",
    "container": [{"kind": "csv"}],
    "join": {"container": {"kind": "jsonl"}, "key": {"at": "/question_id"}, "by": {"at": "/q"}},
    "fields": {
        "file": {"at": "/q"},
        "scores": {"overall": {"at": "/r", "number": ["plain"]}},
        "factors": {"category": {"of": "joined", "at": "/category"}},
    },
    "rubric": {"name": "r", "dimensions": {"overall": {"scale": {"kind": "integers", "minimum": 1, "maximum": 5}}}},
}


def test_a_second_file_is_joined_by_a_key_and_kept(tmp_path, capsys):
    (tmp_path / "dialect.json").write_text(json.dumps(JOIN))
    (tmp_path / "rows.csv").write_text("q,r\n81,3\n82,4\n99,5\n")
    (tmp_path / "questions.jsonl").write_text(
        '{"question_id": 81, "category": "writing"}\n{"question_id": "82", "category": "maths"}\n'
    )
    normalize = (
        "normalize",
        tmp_path / "rows.csv",
        "--dialect",
        tmp_path / "dialect.json",
        "--out",
        tmp_path / "ledger",
    )
    run(*normalize, status=2)
    run(*normalize, "--join", tmp_path / "questions.jsonl", status=1)
    assert "no row of the joined file has the key 99" in capsys.readouterr().err
    records = [json.loads(line) for line in (tmp_path / "ledger" / "records.jsonl").read_text().splitlines()]
    assert [record["factors"] for record in records] == [{"category": "writing"}, {"category": "maths"}]
    assert records[0]["source"]["dialect"]["steps"][-1] == {"take": "joined:/category", "put": "/factors/category"}
    run("audit", tmp_path / "ledger")
    (tmp_path / "questions.jsonl").write_text('{"question_id": 81}\n{"question_id": 81}\n')
    run(*normalize, "--join", tmp_path / "questions.jsonl", status=2)
    assert "have the key 81" in capsys.readouterr().err


def test_a_second_file_that_would_fill_the_memory_is_refused_before_it_is_read(tmp_path, capsys):
    (tmp_path / "dialect.json").write_text(json.dumps(JOIN))
    (tmp_path / "rows.csv").write_text("q,r\n81,3\n")
    with open(tmp_path / "huge.jsonl", "wb") as file:
        file.truncate((1 << 28) + 1)
    flags = ("--dialect", tmp_path / "dialect.json", "--join", tmp_path / "huge.jsonl", "--out", tmp_path / "ledger")
    run("normalize", tmp_path / "rows.csv", *flags, status=2)
    assert "huge.jsonl is larger than 268435456 bytes: join a file" in capsys.readouterr().err


def test_a_shipped_dialect_needs_no_ceremony_to_fill_a_table(tmp_path, capsys):
    ledger = tmp_path / "ledger"
    run("normalize", FOLDER / "mt-bench.jsonl", "--dialect", "mt-bench", "--out", ledger, status=1)
    assert "diagnostic" not in capsys.readouterr().err
    run("aggregate", ledger, "--format", "json")
    summary = json.loads(capsys.readouterr().out)
    assert summary["left_out"]["diagnostic"] == 0
    assert sum(row["n"] for row in summary["rows"]) == CASES["mt-bench"][0]


def test_a_label_for_every_record_is_told_where_names_could_tell(tmp_path, capsys):
    argv = ("normalize", FOLDER / "mt-bench.jsonl", "--dialect", "mt-bench")
    run(*argv, "--set", "self_judged=true", "--out", tmp_path / "one", status=1)
    assert "labels every record, whoever judged whom: --set self_judged=by_name" in capsys.readouterr().err
    run(*argv, "--set", "self_judged=by_name", "--out", tmp_path / "two", status=1)
    assert "self_judged" not in capsys.readouterr().err


def test_a_dialect_without_a_phase_says_that_nothing_enters_a_table_and_what_to_add(tmp_path, capsys):
    dialect = json.loads(shipped.text("mt-bench"))
    del dialect["phase"], dialect["protocol_version"]
    (tmp_path / "dialect.json").write_text(json.dumps(dialect))
    argv = ("normalize", FOLDER / "mt-bench.jsonl", "--dialect", tmp_path / "dialect.json")
    run(*argv, "--out", tmp_path / "one", status=1)
    said = capsys.readouterr().err.splitlines()[-1]
    assert "enter no table" in said
    run(*argv, *said.partition("add ")[2].split(), "--out", tmp_path / "two", status=1)
    assert "enter no table" not in capsys.readouterr().err
    run("aggregate", tmp_path / "two", "--format", "json")
    assert json.loads(capsys.readouterr().out)["left_out"]["diagnostic"] == 0


def test_a_file_that_is_no_bundle_is_told_to_be_guessed(tmp_path, capsys):
    run("normalize", FOLDER / "mt-bench.jsonl", "--out", tmp_path / "ledger", status=1)
    assert f"normalizer guess {FOLDER / 'mt-bench.jsonl'}" in capsys.readouterr().err


def test_labels_by_name_are_stated_once_for_everybody(tmp_path, capsys):
    file = tmp_path / "ratings.jsonl"
    rows = [json.loads(line) for line in fixture("mt-bench").splitlines() if line.endswith(b"}")]
    for row, name in zip(rows, ("judge-large", "writer"), strict=False):
        row["model"], row["judge"] = name, ["judge-large", "single-v1"]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows[:2]))
    argv = ("normalize", file, "--dialect", "mt-bench")
    run(*argv, "--out", tmp_path / "unlabelled", status=1)
    assert "self_judging_unlabelled" in capsys.readouterr().err
    run(*argv, "--set", "self_judged=by_name", "--out", tmp_path / "ledger")
    records = [json.loads(line) for line in (tmp_path / "ledger" / "records.jsonl").read_text().splitlines()]
    assert {record["generator_model"]: record["self_judged"] for record in records} == {
        "judge-large": True,
        "writer": False,
    }


def test_the_same_file_under_other_settings_is_refused_in_plain_words_unless_replaced(tmp_path, capsys):
    argv = ("normalize", FOLDER / "mt-bench.jsonl", "--dialect", "mt-bench", "--out", tmp_path / "ledger")
    run(*argv, status=1)
    before = taken(tmp_path / "ledger")
    run(*argv, "--set", "run_id=r", status=2)
    assert "normalized with other values of --set: give --replace" in capsys.readouterr().err
    assert taken(tmp_path / "ledger") == before
    (tmp_path / "dialect.json").write_text(shipped.text("mt-bench").replace("mt-bench", "mine", 1))
    run(*argv[:3], tmp_path / "dialect.json", *argv[4:], status=2)
    assert "normalized with another dialect: give --replace" in capsys.readouterr().err
    run(*argv, "--set", "run_id=r", "--replace", status=1)
    assert "ledger: 1 bundles" in capsys.readouterr().err
