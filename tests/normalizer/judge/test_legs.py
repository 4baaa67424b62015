"""A run that goes on with another judge: a leg of its own, told apart in bundles, ledgers and numbers."""

import json

import pytest

from normalizer.cli import main
from tests.support.judging import COMMAND, GOOD, Study, bad_endpoint

CONTENTS = {
    "a.txt": b"An answer.",
    "b.txt": b'Another.\nBEHAVE say "sorry"',
    "c.txt": b'A third.\nBEHAVE say "sorry"',
}


@pytest.fixture
def other(tmp_path):
    """A judge that is another program: it answers whatever it is given, but not on a file that says `never`."""
    path = tmp_path / "other.py"
    path.write_text(f"import sys\nprint('none' if 'never' in sys.stdin.read() else '''{GOOD}''')\n")
    return f"{COMMAND.split()[0]} {path}"


@pytest.fixture
def study(tmp_path, monkeypatch):
    monkeypatch.setenv("CALLS", str(tmp_path / "calls.log"))
    (tmp_path / "calls.log").touch()
    return lambda contents=CONTENTS, **stated: Study(tmp_path, contents, **stated)


def read(path):
    return json.loads(path.read_bytes())


def files(bundle):
    return [entry["file"] for entry in bundle["per_file_scores"]]


def test_a_changed_judge_is_refused_and_told_of_legs(study, other, capsys):
    one = study(judge_model="judge-x")
    assert one.command() == 1
    capsys.readouterr()
    assert one.judge("--command", other) == 2
    assert "was begun with another judge: go on with this one as a leg, --leg NAME" in capsys.readouterr().err


def test_a_leg_asks_about_the_files_without_a_usable_reply_alone(study, other, capsys):
    one = study()
    assert one.command() == 1
    assert one.judge("--command", other, "--model", "judge-z", "--leg", "second") == 0
    leg = one.out / "legs" / "second"
    bundle, partial = read(leg / "bundle.json"), read(one.out / "partial.json")
    assert (files(partial), files(bundle)) == (["a.txt"], ["b.txt", "c.txt"])
    assert (partial["judge_model"], "leg" in partial) == ("judge-x", False)
    assert (bundle["judge_model"], bundle["leg"]) == ("judge-z", "second")
    told = read(leg / "run.json")["leg"]
    assert (told["name"], told["after"]) == ("second", [])
    assert main(["judge", "--replay", str(leg)]) == 0


def test_a_leg_behind_an_endpoint_goes_on_after_a_program(study):
    one = study({"a.txt": b"An answer.", "b.txt": b"BEHAVE fail 3"})
    assert one.command() == 1
    with bad_endpoint() as endpoint:
        flags = ("--endpoint", endpoint.url, "--model", "judge-z", "--leg", "second")
        assert one.judge(*flags) == 0
        assert len(endpoint.requests) == 1
        assert one.judge(*flags) == 0  # goes on as the same leg, and has nothing left to ask
        assert len(endpoint.requests) == 1
    assert files(read(one.out / "legs" / "second" / "bundle.json")) == ["b.txt"]
    assert main(["judge", "--replay", str(one.out / "legs" / "second")]) == 0


def test_a_third_judge_is_asked_only_what_two_left_open(study, other):
    one = study({**CONTENTS, "c.txt": CONTENTS["c.txt"] + b"\nnever"})
    assert one.command() == 1
    assert one.judge("--command", other, "--model", "judge-z", "--leg", "second") == 1
    assert one.judge("--command", f"echo '{GOOD}'", "--model", "judge-w", "--leg", "third") == 0
    assert files(read(one.out / "legs" / "third" / "bundle.json")) == ["c.txt"]
    assert read(one.out / "legs" / "third" / "run.json")["leg"]["after"] == ["second"]


def test_a_run_with_legs_asks_its_first_judge_no_more(study, other, capsys):
    one = study()
    assert one.command() == 1
    asked = one.asked
    assert one.judge("--command", other, "--model", "judge-z", "--leg", "second") == 0
    assert one.command("--attempts", "2") == 2
    assert "went on as the leg second" in capsys.readouterr().err
    assert one.asked == asked


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (("--leg", "../x", "--model", "z"), "is no name for a leg"),
        (("--leg", "second"), "a leg needs the name of its judge"),
    ],
)
def test_a_leg_without_a_proper_name_is_refused(study, other, capsys, flags, sentence):
    one = study()
    assert one.command() == 1
    assert one.judge("--command", other, *flags) == 2
    assert sentence in capsys.readouterr().err
    assert not (one.out / "legs").exists()


def test_a_leg_changes_the_judge_alone(study, other, capsys):
    one = study(judge_model="judge-x")
    flags = ("--command", other, "--model", "judge-z", "--leg", "second")
    assert one.judge(*flags) == 2
    assert "holds no run to go on with" in capsys.readouterr().err
    assert one.command("--model", "judge-x") == 1
    assert one.command("--model", "judge-x", "--leg", "second") == 2
    assert "would have the judge of the run" in capsys.readouterr().err
    one.state(phase=1, judge_model="judge-x", generator_model="someone-else")
    assert one.judge(*flags) == 2
    assert "was begun with another manifest" in capsys.readouterr().err


def test_a_whole_run_leaves_nothing_for_a_leg(study, other, capsys):
    one = study({"a.txt": b"An answer."})
    assert one.command() == 0
    assert one.judge("--command", other, "--model", "judge-z", "--leg", "second") == 2
    assert "there is nothing left for a leg" in capsys.readouterr().err


def test_the_new_judges_own_outputs_are_labelled(study, other):
    one = study()
    for file, writer in zip(one.files, ("writer-y", "writer-y", "judge-z"), strict=True):
        file["generator_model"] = writer
    one.state(phase=1, judge_model="judge-x")
    assert one.command() == 1
    assert one.judge("--command", other, "--model", "judge-z", "--leg", "second") == 0
    manifest = read(one.out / "legs" / "second" / "manifest.json")
    assert [file["self_judged"] for file in manifest["files"]] == [False, True]


@pytest.fixture
def ledger(study, other, tmp_path):
    one = study()
    assert one.command() == 1
    assert one.judge("--command", other, "--model", "judge-z", "--leg", "second") == 0
    leg, out = one.out / "legs" / "second", str(tmp_path / "ledger")
    # The run's own manifest lists the files that its first judge left open.
    whole, rest = str(one.out / "manifest.json"), str(leg / "manifest.json")
    assert main(["normalize", str(one.out / "partial.json"), "--manifest", whole, "--out", out]) == 1
    assert main(["normalize", str(leg / "bundle.json"), "--manifest", rest, "--out", out]) == 0
    return out


def test_no_number_mixes_legs_unless_asked(ledger, capsys):
    for verb in ("aggregate", "agreement", "compare"):
        assert main([verb, ledger]) == 2, verb
        assert "of leg (none) and second, which are not mixed silently" in capsys.readouterr().err
    assert main(["aggregate", ledger, "--by", "leg", "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [(row["key"]["leg"], row["n"], "mixed_legs" in row["flags"]) for row in rows] == [
        ("second", 2, False),
        (None, 1, False),
    ]
    assert main(["aggregate", ledger, "--where", "leg=second", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"][0]["n"] == 2
    assert main(["aggregate", ledger, "--mix", "leg", "--format", "json"]) == 0
    [row] = json.loads(capsys.readouterr().out)["rows"]
    assert (row["n"], "mixed_legs" in row["flags"]) == (3, True)


def test_the_report_does_not_mix_legs_either(ledger, tmp_path, capsys):
    page = tmp_path / "page.html"
    assert main(["report", ledger, "--out", str(page)]) == 2
    assert "not mixed silently" in capsys.readouterr().err
    assert main(["report", ledger, "--mix", "leg", "--out", str(page)]) == 0
    assert "mixed_legs" in page.read_text() or "several legs" in page.read_text()
