"""Claims about what a search shows: each is checked by searching again."""

import pytest

from zeno.cli.parser import main
from zeno.results.seals import NotRecorded


@pytest.fixture
def session(traced):
    traced.file("a.txt", "one\ntwo\n")
    traced.file("sub/b.txt", "Three\n")
    traced.file(".hidden", "secret\n")
    traced.file("c.py", "class Lease:\n    def renew(self): ...\n\n\nrenew()\n")
    return traced


def judge(session, **search):
    session.record.claim("so it is", search=search)
    claim = session.run("verify")[1]["claims"][-1]
    assert claim["holds"] == (claim["search"]["verdict"] == "ok")
    return claim["search"]["verdict"], claim["search"]["lines"]


@pytest.mark.parametrize(
    ("search", "verdict", "lines"),
    [
        ({"type": "occurs", "pattern": "two"}, "ok", 1),
        ({"type": "occurs", "pattern": "o"}, "ok", 2),
        ({"type": "occurs", "pattern": "four"}, "fails", 0),
        ({"type": "absent", "pattern": "four"}, "ok", 0),
        ({"type": "absent", "pattern": "two"}, "fails", 1),
        ({"type": "absent", "pattern": "two", "paths": ["sub"]}, "ok", 0),
        ({"type": "absent", "pattern": "three"}, "ok", 0),
        ({"type": "absent", "pattern": "three", "case_sensitive": False}, "fails", 1),
        ({"type": "occurs", "pattern": "^T.*e$", "regex": True}, "ok", 1),
        ({"type": "absent", "pattern": "secret"}, "ok", 0),
        ({"type": "absent", "pattern": "secret", "include_hidden": True}, "fails", 1),
        ({"type": "absent", "pattern": "(", "regex": True}, "unknown", None),
        ({"type": "absent", "pattern": "x", "paths": ["none"]}, "unknown", 0),
        ({"type": "absent", "pattern": "x", "paths": ["../x"]}, "unknown", None),
        ({"type": "defines", "name": "Lease.renew"}, "ok", 1),
        ({"type": "defines", "name": "renew", "paths": ["sub"]}, "fails", 0),
        ({"type": "defines", "name": "expire"}, "fails", 0),
        ({"type": "occurs", "name": "renew"}, "ok", 2),
        ({"type": "occurs", "name": "ren"}, "fails", 0),
        ({"type": "absent", "name": "renew"}, "fails", 2),
        ({"type": "absent", "name": "expire"}, "ok", 0),
        ({"type": "absent", "name": "not a name"}, "unknown", None),
    ],
    ids=str,
)
def test_a_claim_about_a_search_is_checked_by_searching_again(session, search, verdict, lines):
    assert judge(session, **search) == (verdict, lines)


def test_absence_is_not_shown_by_a_search_that_skipped_files(session):
    session.file("c.txt", "\ufeffx")
    (session.root / "wide.txt").write_bytes(b"\xff\xfex\0")
    assert judge(session, type="absent", pattern="x y") == ("unknown", 0)
    assert judge(session, type="occurs", pattern="one") == ("ok", 1)


def test_what_changes_undoes_the_claim(session):
    session.record.claim("nobody says four", search={"type": "absent", "pattern": "four"})
    assert session.run("verify")[0] == 0
    session.file("d.txt", "four\n")
    status, text = session.text("verify")
    assert status == 1
    assert "fails  absent: grep pattern=four: 1 line" in text


def test_bad_lines_beside_a_good_search_still_fail_the_claim(session):
    session.record.claim("x", [("a.txt", 1, 1)], search={"type": "occurs", "pattern": "one"})
    assert session.run("verify")[0] == 1


def test_a_claim_about_a_search_needs_no_other_evidence(session):
    session.record.claim("x", search={"type": "occurs", "pattern": "one"})
    assert session.run("lint", "--strict")[0] == 0


def test_a_claim_about_a_search_is_made_on_the_command_line(session, capsys):
    flags = ["--log", str(session.log), "--root", str(session.root)]
    assert main(["trace", "claim", "no t in a", "--absent", "^t$", "--regex", "--in", "a.txt", *flags]) == 0
    assert session.events()[-1]["search"] == {"type": "absent", "pattern": "^t$", "regex": True, "paths": ["a.txt"]}
    assert session.run("verify")[0] == 0
    assert main(["trace", "claim", "x", "--in", "a.txt", *flags]) == 2
    assert "--occurs or --absent" in capsys.readouterr().err


def test_no_definition_is_not_shown_by_a_file_that_could_not_be_parsed(session):
    session.file("broken.py", "x = expire )\n")
    assert judge(session, type="defines", name="expire") == ("unknown", 0)


@pytest.mark.parametrize(
    "search",
    [
        {"type": "occurs"},
        {"type": "occurs", "pattern": "a", "name": "a"},
        {"type": "defines", "pattern": "a"},
        {"type": "defines", "pattern": "a", "name": "a"},
        {"type": "absent", "name": "a", "regex": True},
    ],
    ids=str,
)
def test_a_search_that_cannot_be_asked_is_refused(session, search):
    with pytest.raises(NotRecorded, match="search"):
        session.record.claim("x", search=search)


def test_a_claim_that_something_is_defined_is_made_on_the_command_line(session):
    flags = ["--log", str(session.log), "--root", str(session.root)]
    assert main(["trace", "claim", "leases renew", "--defines", "Lease.renew", "--in", "c.py", *flags]) == 0
    assert session.events()[-1]["search"] == {"type": "defines", "name": "Lease.renew", "paths": ["c.py"]}
    assert "ok  defines: find_symbols name=Lease.renew" in session.text("verify")[1]
