"""Text and names written outside the root are never delivered, however a directory or file gets there.

Each test moves something out of the root, and writes into it there, right before one system call of the server.
"""

import json
import os
from itertools import count
from typing import Any

import pytest

from tests.support.moving import MARKER, Moment, move_file_out, move_out, opens, reads, write_outside
from tests.support.planting import prepare
from zeno.cache.warm_corpus import WarmCorpus
from zeno.files.batch_open import LISTING
from zeno.files.location import MAX_HELD, MAX_LISTED_PATH, HeldDirectories
from zeno.files.tree import Tree
from zeno.search.corpus import ColdCorpus
from zeno.session.server import Server

LARGE = 100_000  # more than grep's buffer, so that the file is read in the other way


@pytest.fixture
def folder(root):
    """Two directories with files that say needle."""
    for name in ("d", "e"):
        (root / name / "sub").mkdir(parents=True)
        for file in ("a.txt", "sub/c.txt"):
            (root / name / file).write_text("def inside(): needle\n")
    return root


@pytest.fixture(params=["with proc", "without proc"])
def tree(folder, request, monkeypatch):
    if request.param == "without proc":
        monkeypatch.setattr("zeno.files.location.DESCRIPTORS", b"/proc/nowhere/%d")
    with Tree(str(folder)) as tree:
        yield tree


def ask(corpus: Any, op: str, **args: Any) -> Any:
    return json.loads(Server(corpus).answer(json.dumps({"id": "1", "op": op, "args": args}).encode()))


def said(answer: Any) -> str:
    return json.dumps(answer)


def is_scan_of(name: str) -> Any:
    return lambda target, *_: isinstance(target, int) and os.readlink(f"/proc/self/fd/{target}").endswith("/" + name)


WAYS_OUT = {
    "directory": move_out,
    "directory, with a link left in its place": lambda root: move_out(root, link=True),
    "file": move_file_out,
}
ways_out = pytest.mark.parametrize("way", WAYS_OUT.values(), ids=WAYS_OUT)


@ways_out
def test_grep_of_a_file_that_left_before_it_was_opened(tree, folder, monkeypatch, way):
    moment = Moment(monkeypatch, "open", opens("a.txt"), way(folder))
    answer = ask(ColdCorpus(tree), "grep", pattern="needle")
    assert moment.happened
    assert MARKER not in said(answer)
    assert not answer["result"]["complete"]
    assert "e/a.txt" in said(answer)


@ways_out
def test_grep_of_a_file_that_left_before_it_was_read(tree, folder, monkeypatch, way):
    moment = Moment(monkeypatch, "readv", reads("d/a.txt"), way(folder))
    answer = ask(ColdCorpus(tree), "grep", pattern="needle")
    assert moment.happened
    assert MARKER not in said(answer)
    assert not answer["result"]["complete"]


@ways_out
def test_grep_of_a_long_file_that_left_before_it_was_read(tree, folder, monkeypatch, way):
    (folder / "d" / "a.txt").write_text("needle\n" * LARGE)
    moment = Moment(monkeypatch, "pread", reads("d/a.txt"), way(folder))
    answer = ask(ColdCorpus(tree), "grep", pattern=f"needle {MARKER}")
    assert moment.happened
    assert MARKER not in said(answer)
    assert not answer["result"]["complete"]


def test_grep_never_takes_a_file_for_searched_whose_directory_left(tree, folder, monkeypatch):
    """Rewritten outside, it has no match any more: that must not pass for a proof of absence."""
    (folder / "d" / "a.txt").write_text("only here\n")
    moment = Moment(monkeypatch, "readv", reads("d/a.txt"), move_out(folder))
    answer = ask(ColdCorpus(tree), "grep", pattern="only here")
    assert moment.happened
    assert answer["result"]["hits"] == []
    assert not answer["result"]["complete"]


@pytest.mark.parametrize("link", [False, True])
@pytest.mark.parametrize("gitignore", [False, True])
@pytest.mark.parametrize("name", ["d", "d/sub"])
def test_list_files_of_a_directory_that_left_before_it_was_listed(tree, folder, monkeypatch, link, gitignore, name):
    moment = Moment(monkeypatch, "scandir", is_scan_of(name), move_out(folder, link=link))
    answer = ask(ColdCorpus(tree), "list_files", gitignore=gitignore)
    assert moment.happened
    assert MARKER not in said(answer)
    assert [path for path in answer["result"]["files"] if path.startswith("e/")] == ["e/a.txt", "e/sub/c.txt"]


def test_rules_written_outside_have_no_say(tree, folder, monkeypatch):
    (folder / "d" / ".gitignore").write_text("nothing\n")

    def action() -> None:
        os.rename(folder / "d" / ".gitignore", folder.parent / "rules")
        (folder.parent / "rules").write_text("*\n")

    moment = Moment(monkeypatch, "read", reads(".gitignore"), action)
    answer = ask(ColdCorpus(tree), "list_files", gitignore=True)
    assert moment.happened
    assert answer["result"]["files"] == ["d/a.txt", "d/sub/c.txt", "e/a.txt", "e/sub/c.txt"]


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize("op", ["read_file", "peek", "extract_symbols"])
@ways_out
def test_one_file_that_left_before_it_was_read(tree, folder, monkeypatch, way, op, quick):
    (folder / "d" / "a.py").write_text("def inside(): pass\n")
    if quick:
        tree.speed_up_lookups()
    action = move_file_out(folder, "d/a.py") if way is move_file_out else way(folder)
    moment = Moment(monkeypatch, "pread", reads("d/a.py"), action)
    answer = ask(ColdCorpus(tree), op, path="d/a.py")
    assert moment.happened
    assert MARKER not in said(answer)
    assert MARKER.replace("-", "_") not in said(answer)
    assert answer["error"]["code"] in ("not_found", "path_outside_root")


def test_one_file_whose_directory_left_before_it_was_opened(tree, folder, monkeypatch):
    moment = Moment(monkeypatch, "open", opens("a.txt"), move_out(folder))
    answer = ask(ColdCorpus(tree), "read_file", path="d/a.txt")
    assert moment.happened
    assert answer["error"]["code"] == "not_found"


def test_a_file_that_became_binary_outside_is_gone_and_not_binary(tree, folder, monkeypatch):
    def action() -> None:
        move_out(folder)()
        (folder.parent / "outside" / "a.txt").write_bytes(b"\0" * 20)

    moment = Moment(monkeypatch, "pread", reads("d/a.txt"), action)
    answer = ask(ColdCorpus(tree), "read_file", path="d/a.txt")
    assert moment.happened
    assert answer["error"]["code"] == "not_found"


@ways_out
def test_stat_of_what_left_right_before(tree, folder, monkeypatch, way):
    moment = Moment(monkeypatch, "stat", opens("a.txt"), way(folder))
    answer = ask(ColdCorpus(tree), "stat", path="d/a.txt")
    assert moment.happened
    assert answer.get("error", {}).get("code") == "path_outside_root" or not answer["result"]["items"][0]["exists"]


def test_quick_stat_of_what_left_right_before(tree, folder, monkeypatch):
    tree.speed_up_lookups()
    moment = Moment(monkeypatch, "fstat", reads("d/a.txt"), move_out(folder))
    answer = ask(ColdCorpus(tree), "stat", path="d/a.txt")
    assert moment.happened
    assert not answer["result"]["items"][0]["exists"]


def test_the_text_of_a_link_made_outside_is_not_told(tree, folder, monkeypatch):
    os.symlink("a.txt", folder / "d" / "link")

    def action() -> None:
        os.rename(folder / "d", folder.parent / "outside")
        os.unlink(folder.parent / "outside" / "link")
        os.symlink(MARKER, folder.parent / "outside" / "link")

    moment = Moment(monkeypatch, "readlink", opens("link"), action)
    answer = ask(ColdCorpus(tree), "stat", path="d/link")
    assert moment.happened
    assert MARKER not in said(answer)
    assert not answer["result"]["items"][0]["exists"]


def test_absence_is_not_taken_from_a_directory_that_was_exchanged(tree, folder, monkeypatch):
    def action() -> None:
        os.unlink(folder / "d" / "a.txt")
        os.rename(folder / "d", folder.parent / "outside")
        os.rename(folder / "e", folder / "d")

    moment = Moment(monkeypatch, "stat", opens("a.txt"), action)
    assert ask(ColdCorpus(tree), "stat", path="d/a.txt")["result"]["items"][0]["exists"]
    assert moment.happened


@pytest.mark.parametrize("op", ["grep", "list_files"])
def test_a_directory_that_took_the_place_of_one_that_left_is_served(tree, folder, monkeypatch, op):
    fresh = folder.parent / "fresh"
    fresh.mkdir()
    (fresh / "a.txt").write_text("needle, fresh\n")

    def action() -> None:
        move_out(folder)()
        os.rename(fresh, folder / "d")

    if op == "grep":
        moment = Moment(monkeypatch, "readv", reads("d/a.txt"), action)
        answer = ask(ColdCorpus(tree), "grep", pattern="needle")
        assert "needle, fresh" in said(answer)
    else:
        moment = Moment(monkeypatch, "scandir", is_scan_of("d"), action)
        answer = ask(ColdCorpus(tree), "list_files")
        assert "d/a.txt" in answer["result"]["files"]
        assert "d/sub/c.txt" not in answer["result"]["files"]
    assert moment.happened
    assert MARKER not in said(answer)


def outside_and_back(folder: Any, name: str) -> tuple[Any, Any]:
    """Actions: move `d` out and write there; write again and move it back."""
    away = folder.parent / "away"

    def text(word: str) -> str:
        return f"def {word}(): needle".ljust(LARGE) + "\n"

    def rewrite(word: str) -> None:
        with open(away / name, "r+") as file:
            file.write(text(word))

    def out() -> None:
        os.rename(folder / "d", away)
        rewrite("outside")

    def back() -> None:
        rewrite("again")
        os.rename(away, folder / "d")

    (folder / "d" / name).write_text(text("inside"))
    return out, back


def test_grep_of_a_file_that_said_something_else_while_it_was_outside(tree, folder, monkeypatch):
    moment = Moment(monkeypatch, "pread", reads("d/a.txt"), *outside_and_back(folder, "a.txt"))
    answer = ask(ColdCorpus(tree), "grep", pattern="needle", paths=["d/a.txt"], max_line_chars=60)
    assert moment.happened
    assert "outside" not in said(answer)
    assert "again" in said(answer)


@pytest.mark.parametrize("op", ["read_file", "peek", "extract_symbols"])
def test_one_file_that_said_something_else_while_it_was_outside(tree, folder, monkeypatch, op):
    moment = Moment(monkeypatch, "pread", reads("d/a.py"), *outside_and_back(folder, "a.py"))
    answer = ask(ColdCorpus(tree), op, path="d/a.py")
    assert moment.happened
    assert "outside" not in said(answer)


@pytest.mark.parametrize("op", ["read_file", "peek"])
def test_a_file_that_is_written_while_it_is_read_is_served(tree, folder, monkeypatch, op):
    def action() -> None:
        with open(folder / "d" / "a.txt", "a") as file:
            file.write("more\n")

    moment = Moment(monkeypatch, "pread", reads("d/a.txt"), action)
    assert ask(ColdCorpus(tree), op, path="d/a.txt")["ok"]
    assert moment.happened


def test_a_file_saved_by_renaming_while_it_is_read_is_served(folder, monkeypatch):
    def action() -> None:
        (folder / "new").write_text("def inside(): new needle\n")
        os.rename(folder / "new", folder / "d" / "a.txt")

    with Tree(str(folder)) as tree:
        moment = Moment(monkeypatch, "pread", reads("d/a.txt"), action)
        assert "needle" in ask(ColdCorpus(tree), "read_file", path="d/a.txt")["result"]["text"]
    assert moment.happened


def grow(folder: Any, path: str) -> Any:
    """Before each read of a file, append to it and put a new name beside it."""
    names = count()
    real = os.pread

    def pread(descriptor: int, *args: Any) -> bytes:
        if reads(path)(descriptor):
            with open(folder / path, "a") as file:
                file.write("appended needle\n")
            (folder / path).with_name(f"temporary{next(names)}").touch()
        return real(descriptor, *args)

    return pread


@pytest.mark.parametrize("op", ["read_file", "peek", "extract_symbols", "grep"])
def test_a_log_that_grows_where_names_come_and_go_is_served(folder, monkeypatch, op):
    log = folder / "d" / "sub" / "log.py"
    log.write_text("def logged(): needle\n" * LARGE)
    with Tree(str(folder)) as tree:
        monkeypatch.setattr(os, "pread", grow(folder, "d/sub/log.py"))
        where = {"paths": ["d/sub/log.py"], "pattern": "needle", "max_bytes": 1 << 30} if op == "grep" else {}
        answer = ask(ColdCorpus(tree), op, **(where or {"path": "d/sub/log.py"}))
    assert answer["ok"], answer
    assert "logged" in said(answer)
    assert op != "grep" or answer["result"]["skipped"]["unreadable"] == 0


def test_a_log_that_grows_is_not_served_if_it_was_outside_at_every_read(folder, monkeypatch):
    """What was written outside is read, and read again: the kernel has reported the move."""
    (folder / "d" / "a.txt").write_text("inside\n")
    real, outside, seen = os.pread, folder.parent / "outside.txt", []

    def pread(descriptor: int, *args: Any) -> bytes:
        if not reads("d/a.txt")(descriptor):
            return real(descriptor, *args)
        os.rename(folder / "d" / "a.txt", outside)
        outside.write_text(f"{MARKER}\n"[:7])
        seen.append(real(descriptor, *args))
        outside.write_text("inside\n")
        os.rename(outside, folder / "d" / "a.txt")
        return seen[-1]

    with Tree(str(folder)) as tree:
        monkeypatch.setattr(os, "pread", pread)
        answer = ask(ColdCorpus(tree), "read_file", path="d/a.txt")
    assert len(seen) > 1, "read once only"
    assert set(seen) == {MARKER.encode()[:7]}
    assert answer["error"]["code"] == "not_found"


def held_below(tree, root, names: str) -> HeldDirectories:
    """Make directories, one in the other, and enter them."""
    held = HeldDirectories(tree.location, LISTING)
    root.joinpath(*names).mkdir(parents=True)
    for name in map(str.encode, names):
        held.enter(name, os.open(name, LISTING, dir_fd=held.last()))
    return held


def test_each_level_up_takes_one_step_however_deep_it_is(tree, folder, monkeypatch):
    """From the root, three thousand levels took 17 seconds."""
    names = "n" * 5 * MAX_HELD
    held = held_below(tree, folder, names)
    opened: list[Any] = []
    really_open = os.open

    def counted(*args: Any, **options: Any) -> int:
        opened.append(args)
        return really_open(*args, **options)

    monkeypatch.setattr(os, "open", counted)
    for depth in reversed(range(1, len(names))):
        held.leave()
        assert os.path.samestat(os.fstat(held.last()), folder.joinpath(*names[:depth]).stat())
    assert len(opened) < len(names)
    held.clear()


def test_a_level_up_is_no_other_directory(tree, folder):
    names = "abcdefghijklmnopqrstuvwxyz"
    held = held_below(tree, folder, names)
    for _ in range(MAX_HELD - 1):
        held.leave()
    # The next one up has been closed, and what is above the last one now is another.
    below = folder.joinpath(*names[: len(held.names)])
    outside = folder.parent / "outside"
    below.rename(outside)
    held.leave()
    assert os.path.samestat(os.fstat(held.last()), below.parent.stat())
    held.clear()


@pytest.mark.parametrize("warm", [True, False], ids=["warm", "cold"])
def test_directories_whose_path_is_too_long_are_not_listed_and_that_is_told(root, warm):
    """Time and memory grow with the square of the depth: 20,000 directories, one in the other, took a minute."""
    name = "n" * 255
    held = os.open(root, os.O_RDONLY)
    path = ""
    while len(path) <= MAX_LISTED_PATH:
        path = f"{path}/{name}".lstrip("/")
        os.mkdir(name, dir_fd=held)
        below = os.open(name, os.O_RDONLY, dir_fd=held)
        os.close(held)
        held = below
        os.close(os.open("file", os.O_CREAT, dir_fd=held))
    os.close(held)
    with Tree(str(root)) as tree:
        corpus = WarmCorpus(tree, 1 << 20) if warm else ColdCorpus(tree)
        if warm:
            prepare(corpus)
        result = ask(corpus, "list_files")["result"]
        assert len(result["files"]) == path.count("/")
        assert (result["skipped"]["unreadable"], result["complete"]) == (1, False)
        # A path that is asked for may be longer.
        assert ask(corpus, "stat", path=f"{path}/file")["result"]["items"][0]["exists"]
        if warm:
            corpus.close()


def test_the_root_may_move_while_it_is_served(tree, folder, monkeypatch):
    moved = folder.parent / "moved"
    moment = Moment(monkeypatch, "readv", reads("d/a.txt"), lambda: os.rename(folder, moved))
    answer = ask(ColdCorpus(tree), "grep", pattern="needle")
    assert moment.happened
    assert answer["result"]["complete"]
    assert len(answer["result"]["hits"]) == 4


class TestWarm:
    @pytest.fixture
    def corpus(self, tree, room_to_watch):
        corpus = WarmCorpus(tree, 1 << 20)
        yield corpus
        corpus.close()

    def test_a_directory_that_leaves_while_it_is_listed(self, corpus, folder, monkeypatch):
        moment = Moment(monkeypatch, "scandir", is_scan_of("d"), move_out(folder))
        prepare(corpus)
        assert moment.happened
        for op, args in (("list_files", {}), ("grep", {"pattern": "needle"})):
            answer = ask(corpus, op, **args)
            assert MARKER not in said(answer)
            assert "e/a.txt" in said(answer)

    def test_a_directory_that_leaves_while_changes_are_looked_at(self, corpus, folder, monkeypatch):
        prepare(corpus)
        (folder / "d" / "new.txt").write_text("needle\n")
        moment = Moment(monkeypatch, "scandir", is_scan_of("d"), move_out(folder))
        answer = ask(corpus, "list_files")
        assert moment.happened
        assert MARKER not in said(answer)
        assert MARKER not in said(ask(corpus, "grep", pattern="needle"))

    @pytest.mark.parametrize("back", [False, True])
    @ways_out
    def test_a_file_that_leaves_while_it_is_read_into_memory(self, corpus, folder, monkeypatch, way, back):
        """Outside it says one thing, and another when it comes back: only the latter may be told."""
        moment = Moment(monkeypatch, "pread", reads("d/a.txt"), way(folder))
        prepare(corpus)
        assert moment.happened
        if back and way is move_out:
            for file in (folder.parent / "outside").rglob("*.txt"):
                file.write_text("needle again\n")
            os.unlink(folder.parent / "outside" / f"{MARKER}.txt")
            os.unlink(folder.parent / "outside" / "sub" / f"{MARKER}.txt")
            os.rename(folder.parent / "outside", folder / "d")
        answer = ask(corpus, "grep", pattern="needle")
        assert MARKER not in said(answer)
        if back and way is move_out:
            assert said(answer).count("needle again") == 2

    def test_a_file_that_said_something_else_while_it_was_outside(self, corpus, folder, monkeypatch):
        moment = Moment(monkeypatch, "pread", reads("d/a.txt"), *outside_and_back(folder, "a.txt"))
        prepare(corpus)
        assert moment.happened
        answer = ask(corpus, "grep", pattern="needle", paths=["d/a.txt"], max_line_chars=60)
        assert "outside" not in said(answer)
        assert "again" in said(answer)

    def test_rules_that_leave_while_they_are_read(self, corpus, folder, monkeypatch):
        (folder / "d" / ".gitignore").write_text("nothing\n")
        prepare(corpus)

        def action() -> None:
            os.rename(folder / "d" / ".gitignore", folder.parent / "rules")
            (folder.parent / "rules").write_text("*\n")

        moment = Moment(monkeypatch, "read", reads(".gitignore"), action)
        answer = ask(corpus, "list_files", gitignore=True)
        assert moment.happened
        assert answer["result"]["files"] == ["d/a.txt", "d/sub/c.txt", "e/a.txt", "e/sub/c.txt"]

    def test_a_file_not_held_that_leaves_while_it_is_searched(self, corpus, folder, monkeypatch):
        prepare(corpus)
        (folder / "d" / "a.txt").write_text("needle\n")
        moment = Moment(monkeypatch, "readv", reads("d/a.txt"), move_out(folder))
        answer = ask(corpus, "grep", pattern="needle")
        assert moment.happened
        assert MARKER not in said(answer)


def test_what_is_written_by_moving_is_seen_by_these_tests(root):
    (root / "d").mkdir()
    (root / "d" / "a.txt").write_text("x\n")
    write_outside(root / "d")
    assert MARKER in (root / "d" / "a.txt").read_text()
    assert (root / "d" / f"{MARKER}.txt").exists()
