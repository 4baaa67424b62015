"""A change made before a request is sent is seen by that request: real servers, real processes that change things."""

import ctypes
import errno
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Pipe
from tests.patience import until
from zeno.search import holding, store, watch
from zeno.search.builder import Builder
from zeno.search.corpus import ColdCorpus
from zeno.search.demands import NOTHING
from zeno.search.holding import Holding
from zeno.search.unseen import Unwatchable
from zeno.search.warm import WarmCorpus
from zeno.search.watch import Watch
from zeno.server import Server
from zeno.tree import Tree

QUESTIONS: list[tuple[str, dict[str, Any]]] = [
    ("grep", {"pattern": "needle", "include_hidden": True, "context": 1}),
    ("grep", {"pattern": ".", "regex": True, "max_bytes": 1000, "max_hits": 1000}),
    ("list_files", {"include_hidden": True}),
    ("list_files", {"glob": "**/*.txt"}),
    ("list_files", {"gitignore": True, "include_hidden": True}),
    ("grep", {"pattern": "a", "gitignore": True}),
]

# What happens to a tree that is fully held, as shell commands run in its root; `../out` is a directory beside it.
CHANGES = {
    "append": "echo needle >> d/a.txt",
    "write in the middle": "printf needle | dd of=d/a.txt bs=1 seek=3 conv=notrunc 2> ../out/noise",
    "stores through a memory map": f'\'{sys.executable}\' -c \'import mmap; file = open("d/a.txt", "r+b"); '
    'mmap.mmap(file.fileno(), 0)[:6] = b"needle"\'',
    "truncate": "truncate -s 3 d/b.txt",
    "rewrite of the same size with its time restored": "touch -r d/a.txt ../out/t; printf 'needleX\\n' > d/a.txt; "
    "touch -r ../out/t d/a.txt",
    "rename over": "echo needle > ../out/n; mv ../out/n d/a.txt",
    "delete": "rm d/b.txt",
    "create": "echo needle > d/new.txt",
    "create beside hidden ones": "mkdir .h; echo needle > .h/new.txt",
    "new directories": "mkdir -p n/e/w; echo needle > n/e/w/x.txt",
    "new directory filled later": "mkdir n; sleep 0.05; mkdir n/e; echo needle > n/e/x.txt",
    "moved directory": "mv d e; echo needle >> e/a.txt",
    "directory moved in": "mkdir ../out/m; echo needle > ../out/m/x.txt; mv ../out/m d/m",
    "directory moved out and changed there": "mv d ../out/d; echo needle >> ../out/d/a.txt",
    "directory moved away and back, changed in between": "mv d ../out/d; echo needle >> ../out/d/a.txt; mv ../out/d d",
    "directories swapped": "mv d t; mv e2 d; mv t e2; echo needle >> d/c.txt",
    "directory replaced by a file": "rm -r d; echo needle > d",
    "directory replaced by a link": "mv d ../out/d; ln -s ../out/d d",
    "file replaced by a directory": "rm d/a.txt; mkdir d/a.txt; echo needle > d/a.txt/x.txt",
    "file replaced by a FIFO": "rm d/a.txt; mkfifo d/a.txt",
    "link retargeted": "ln -sfn e2/c.txt ln.txt",
    "link's target edited": "echo needle >> d/b.txt",
    "link's target removed": "rm d/b.txt",
    "link that leads out": "echo needle > ../out/x; ln -s ../out/x out.txt",
    "absolute link": 'ln -s "$PWD/d/a.txt" abs.txt; echo needle >> d/a.txt',
    "way of an absolute link changed outside": "rm ../way; ln -s out ../way",
    "way of an absolute link leads in again": "rm ../way; ln -s out ../way; mkdir ../out/d; echo > ../out/d/b.txt; "
    "rm ../way; ln -s root/e2 ../way; mkdir e2/d; echo needle > e2/d/b.txt",
    "directory behind a link moved": "ln -s d rel; ln -s rel/b.txt rel.txt; mv d d2; mkdir d; echo needle > d/b.txt",
    "hard link inside, edited there": "ln d/a.txt hard.txt; echo needle >> hard.txt",
    "hard link made outside, edited there": "ln d/a.txt ../out/hard; echo needle >> ../out/hard",
    "old hard link outside, edited there": "echo needle >> ../out/old",
    "old hard link outside, truncated there": "truncate -s 0 ../out/old",
    "becomes binary": "printf 'needle\\0' > d/a.txt",
    "becomes large": "head -c 3000 /dev/zero | tr '\\0' x > d/a.txt",
    "name that is not UTF-8": "echo needle > \"$(printf 'd/\\377.txt')\"",
    "mass checkout": "rm -r d; for i in $(seq 300); do mkdir -p m$((i % 20)); echo needle $i > m$((i % 20))/$i; done",
    "rules of an ignore file rewritten": "printf 'f2*\\nf3*\\n' > .gitignore",
    "rules rewritten, of the same size with their time restored": "touch -r .gitignore ../out/t; "
    "printf 'f2*\\n[bc].txt\\n' > .gitignore; touch -r ../out/t .gitignore",
    "rules edited through a hard link outside": "ln .gitignore ../out/rules; echo 'd/' >> ../out/rules",
    "ignore file removed": "rm .gitignore",
    "ignore file made": "echo 'b*' > d/.ignore",
    "ignore file becomes a link": "rm .gitignore; echo '*' > r; ln -s r .gitignore",
    "ignore file too long to be one": "yes 'f3*' | head -c 300000 > .gitignore",
    "a repository begins": "mkdir d/.git",
    "a repository with rules of its own begins": "mkdir -p d/.git/info; echo 'b*' > d/.git/info/exclude",
    "a repository ends": "rm -r e2/.git",
    "a repository elsewhere": "echo 'gitdir: ../out' > d/.git",
    "a directory where a repository's rules belong": "mkdir -p e2/.git/info/exclude",
    "touched directory": "touch d; echo needle >> d/a.txt",
    "the root itself moved": "mv ../root ../root2; echo needle >> ../root2/d/a.txt; mv ../root2 ../root",
}


def plant(root: Path) -> None:
    """Make a tree in which nothing says needle yet, whatever was there before."""
    out = root.parent / "out"
    for old in [*root.iterdir(), *(out.iterdir() if out.exists() else []), root.parent / "way"]:
        if old.is_dir() and not old.is_symlink():
            shutil.rmtree(old)
        else:
            old.unlink(missing_ok=True)
    (root / "d").mkdir()
    (root / "e2").mkdir()
    out.mkdir(exist_ok=True)
    (root.parent / "way").symlink_to("root")
    (root / "d" / "a.txt").write_text("alphabe\n")
    (root / "d" / "b.txt").write_text("beta\n")
    (root / "e2" / "c.txt").write_text("gamma\n")
    (root / "ln.txt").symlink_to("d/b.txt")
    (root / "far.txt").symlink_to(root.parent / "way" / "d" / "b.txt")
    (root / "own.txt").symlink_to(root / "d" / "b.txt")
    (root / "via").symlink_to(root.parent / "way" / "d")
    (root / "near.txt").symlink_to("via/b.txt")
    (root / "h.txt").write_text("old\n")
    (root / ".gitignore").write_text("f1*\n[bc].txt\n")
    (root / "e2" / ".git").mkdir()
    os.link(root / "h.txt", out / "old")
    for number in range(40):
        (root / f"f{number}.txt").write_text(f"filler {number}\n")


@pytest.fixture
def planted(root):
    plant(root)
    return root


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A root, and one server on it for all changes."""
    root = tmp_path_factory.mktemp("served") / "root"
    root.mkdir()
    server = Pipe(root)
    yield root, server
    assert server.close() == (0, b"")


def without_metrics(answer):
    answer.get("result", {}).pop("metrics", None)
    return answer


def can_watch() -> bool:
    """Whether the system lets this user watch one thing more: all its programs together may watch so many."""
    descriptor = ctypes.CDLL(None).inotify_init1(os.O_CLOEXEC)
    if descriptor >= 0:
        os.close(descriptor)
    return bool(descriptor >= 0)


@pytest.fixture(scope="module", autouse=True)
def room_to_watch():
    until(can_watch, "there is room to watch (raise fs.inotify.max_user_instances, or end what else watches)")


def warm(server):
    """Wait until a server answers from memory: a search that finds nothing then reads only where links lead."""

    def is_warm():
        metrics = server.ask("grep", pattern="no such thing", include_hidden=True)["result"]["metrics"]
        return metrics["files_scanned"] <= 5

    until(is_warm, "the server is warm")


def asked(server):
    return [without_metrics(server.ask(op, **args)) for op, args in QUESTIONS]


def cold_answers(root):
    with Tree(str(root)) as tree:
        return answers(Server(ColdCorpus(tree)))


@pytest.mark.parametrize("change", CHANGES)
def test_the_next_request_sees(served, change):
    root, server = served
    plant(root)
    warm(server)
    before = asked(server)
    assert before == cold_answers(root)
    subprocess.run(["sh", "-ec", CHANGES[change]], cwd=root, check=True)
    after = asked(server)
    assert after == cold_answers(root)
    assert after != before
    # And once more, from what was read anew.
    warm(server)
    assert asked(server) == after


@pytest.mark.parametrize("name", [".git", ".gitignore", ".ignore", ".git/info/exclude"])
def test_a_log_with_a_name_that_makes_rules_makes_the_same_rules(planted, pipe, name):
    log = planted / "d" / name
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text("a*\n")
    server, plain = pipe("--log", str(log)), pipe("--no-cache", "--log", str(log))
    warm(server)
    assert asked(server) == asked(plain)


def test_a_change_right_before_each_request_is_seen(planted, pipe):
    server = pipe()
    warm(server)
    target = planted / "d" / "a.txt"
    for number in range(200):
        target.write_text(f"count {number:04}\n")
        hits = server.ask("grep", pattern=f"count {number:04}")["result"]["hits"]
        assert [hit["path"] for hit in hits] == ["d/a.txt"]


def test_more_changes_than_the_kernel_queues_are_seen(planted, pipe):
    server = pipe()
    warm(server)
    limit = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    with (planted / "d" / "a.txt").open("r+b", 0) as first, (planted / "d" / "b.txt").open("r+b", 0) as second:
        for _ in range(limit // 2 + 100):
            first.write(b"x")
            second.write(b"y")
    (planted / "e2" / "c.txt").write_text("needle\n")
    assert asked(server) == cold_answers(planted)
    warm(server)
    assert asked(server) == cold_answers(planted)


def test_somebody_who_never_stops_writing_holds_up_no_answer(planted, both, monkeypatch):
    corpus, server, cold = both
    prepare(corpus)
    read = os.read
    reads = 0

    def read_while_somebody_writes(descriptor: int, size: int) -> bytes:
        nonlocal reads
        data = read(descriptor, size)
        reads += 1
        assert reads < 100
        (planted / f"f{reads % 2}.txt").write_text("needle\n")
        return data

    (planted / "d" / "a.txt").write_text("needle\n")
    monkeypatch.setattr(os, "read", read_while_somebody_writes)
    hits = answers(server)[0]["result"]["hits"]
    monkeypatch.undo()
    assert reads > 0
    assert "d/a.txt" in [hit["path"] for hit in hits]
    assert answers(server) == answers(cold)


def test_a_mount_over_a_directory_is_seen(planted, pipe):
    server = pipe()
    warm(server)
    mount = subprocess.run(["mount", "-t", "tmpfs", "none", planted / "d"], capture_output=True)
    if mount.returncode:
        pytest.skip("this user may not mount")
    try:
        (planted / "d" / "x.txt").write_text("needle\n")
        mounted = asked(server)
        assert mounted == cold_answers(planted)
        assert mounted[0]["result"]["hits"][0]["path"] == "d/x.txt"
        warm(server)
    finally:
        subprocess.run(["umount", planted / "d"], check=True)
    assert asked(server) == cold_answers(planted)


def unprivileged(planted: Path, corpus: str) -> Pipe:
    """A server that may not read everything, as the superuser may: somebody else's, with everything imported before."""
    code = (
        "import os, sys, zeno.search.holding\n"
        "from zeno.dispatch import OPS, prepare\n"
        "from zeno.search.corpus import ColdCorpus\n"
        "from zeno.search.warm import WarmCorpus\n"
        "from zeno.server import Server, serve\n"
        "from zeno.tree import Tree\n"
        f"server = Server({corpus})\n"
        "for op in OPS: prepare(op)\n"
        'for op in (\'grep\', \'list_files\'): server.answer(b\'{"id":"1","op":"%b","args":{}}\' % op.encode())\n'
        "if os.geteuid() == 0: os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
        "serve(server, 0, 1)\n"
    )
    for folder in [planted, *planted.parents]:
        if folder.stat().st_uid == os.geteuid() and folder != Path("/"):
            folder.chmod(folder.stat().st_mode | 0o055)
    return Pipe(planted, command=[sys.executable, "-c", code, str(planted)])


WARM, COLD = "WarmCorpus(Tree(sys.argv[1]), 1 << 30)", "ColdCorpus(Tree(sys.argv[1]))"


@pytest.mark.parametrize("folder", ["e2/.git", "e2/.git/info"])
def test_rules_that_might_be_behind_a_directory_that_may_be_listed_but_not_entered(planted, folder):
    (planted / folder).mkdir(exist_ok=True)
    server, plain = unprivileged(planted, WARM), unprivileged(planted, COLD)
    warm(server)
    before = asked(server)
    (planted / folder).chmod(0o444)
    after = asked(server)
    wanted = asked(plain)
    (planted / folder).chmod(0o755)
    again = asked(server)
    assert (server.close(), plain.close()) == ((0, b""), (0, b""))
    assert after == wanted != before
    assert again == before


def test_a_file_that_may_no_longer_be_read_is_not_answered_from_memory(planted):
    server = unprivileged(planted, WARM)
    warm(server)
    paths = [hit["path"] for hit in server.ask("grep", pattern="alphabe|gamma", regex=True)["result"]["hits"]]
    assert paths == ["d/a.txt", "e2/c.txt"]
    (planted / "d" / "a.txt").chmod(0)
    (planted / "e2").chmod(0)
    result = server.ask("grep", pattern="alphabe|gamma", regex=True)["result"]
    listed = server.ask("list_files", glob="*2/*")["result"]["files"]
    (planted / "e2").chmod(0o755)
    again = server.ask("grep", pattern="alphabe|gamma", regex=True)["result"]
    assert server.close() == (0, b"")
    assert (result["hits"], result["metrics"]["files_skipped_unreadable"], listed) == ([], 1, [])
    assert [hit["path"] for hit in again["hits"]] == ["e2/c.txt"]


def test_once_all_directories_can_be_listed_again_the_listing_is_held_again(planted, both, monkeypatch):
    corpus, server, cold = both
    before = os.open

    def forbidden(path: Any, flags: int, *args: Any, **options: Any) -> int:
        if path == b"e2":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return before(path, flags, *args, **options)

    monkeypatch.setattr(os, "open", forbidden)
    prepare(corpus)
    assert answers(server) == answers(cold)
    assert corpus._holding.opaque
    monkeypatch.undo()
    (planted / "e2").chmod(0o700)
    assert answers(server) == answers(cold)
    assert not corpus._holding.opaque


@pytest.fixture
def both(planted):
    """A warm and a cold server in this process."""
    with Tree(str(planted)) as tree:
        corpus = WarmCorpus(tree, 1 << 20)
        yield corpus, Server(corpus), Server(ColdCorpus(tree))
        corpus.close()


def answers(server):
    lines = [json.dumps({"id": "1", "op": op, "args": args}).encode() for op, args in QUESTIONS]
    return [without_metrics(json.loads(server.answer(line))) for line in lines]


def prepare(corpus):
    while corpus.idle():
        pass


def test_without_enough_watches_for_directories_nothing_is_held(planted, both, monkeypatch):
    corpus, server, cold = both
    allowed = iter([1])
    add = Watch._add
    monkeypatch.setattr(Watch, "_add", lambda *args: add(*args) if next(allowed, None) else None)
    prepare(corpus)
    (planted / "d" / "a.txt").write_text("needle\n")
    assert corpus._holding is None
    assert answers(server) == answers(cold)
    assert not corpus.idle()


def test_files_without_a_watch_are_read_from_disk(planted, both, monkeypatch):
    corpus, server, cold = both
    allowed = iter(range(20))
    add = Watch.file
    monkeypatch.setattr(Watch, "file", lambda *args: add(*args) if next(allowed, None) is not None else None)
    prepare(corpus)
    assert answers(server) == answers(cold)
    for path in planted.rglob("*.txt"):
        path.write_text("needle\n")
    assert answers(server) == answers(cold)
    assert len(answers(server)[0]["result"]["hits"]) > 40


def test_a_file_that_the_disk_does_not_give_is_not_held(planted, both, monkeypatch):
    corpus, server, cold = both
    broken = (planted / "d" / "a.txt").stat().st_ino
    pread = os.pread

    def failing(descriptor: int, size: int, offset: int) -> bytes:
        if os.fstat(descriptor).st_ino == broken:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return pread(descriptor, size, offset)

    monkeypatch.setattr(os, "pread", failing)
    prepare(corpus)
    monkeypatch.undo()
    assert corpus._holding.entry("d/a.txt").size < 0
    assert corpus._holding.entry("d/b.txt").segment is not None
    assert answers(server) == answers(cold)


def test_a_file_that_is_edited_again_and_again_takes_one_watch(planted, both, monkeypatch):
    corpus, server, _ = both
    files = len([path for path in planted.rglob("*") if path.is_file()])
    monkeypatch.setattr(watch, "_limit", lambda: 4 * files)
    prepare(corpus)
    for number in range(2 * files):
        (planted / "f7.txt").write_text(f"edit {number}\n")
        answers(server)
        prepare(corpus)
    entry = corpus._holding.entry("f7.txt")
    assert entry is not None
    assert entry.segment is not None


def test_other_systems_and_network_file_systems_hold_nothing(planted, both, monkeypatch):
    corpus, server, cold = both
    monkeypatch.setattr("zeno.search.watch._LOCAL", set())
    prepare(corpus)
    assert corpus._holding is None
    assert answers(server) == answers(cold)
    monkeypatch.setattr("sys.platform", "darwin")
    with Tree(str(planted)) as tree, pytest.raises(Unwatchable):
        Watch(tree)


def test_memory_is_given_back_when_files_go(planted, monkeypatch):
    monkeypatch.setattr(store, "SEGMENT", 400)
    with Tree(str(planted)) as tree:
        held = Holding(tree, 1 << 20)
        while held.prepare():
            pass
        assert held._store.size > 0
        shutil.rmtree(planted / "d")
        for path in planted.glob("f*.txt"):
            path.unlink()
        for name in ("h.txt", "e2/c.txt", ".gitignore"):
            (planted / name).unlink()
        held.refresh()
        assert held.paths == []
        assert held._store.size == 0
        assert held._store.candidates(NOTHING) == {}
        assert len(held._watched) == 3
        held.close()


def test_beyond_the_cache_files_are_read_from_disk(planted):
    with Tree(str(planted)) as tree:
        corpus, cold = WarmCorpus(tree, 3000), Server(ColdCorpus(tree))
        prepare(corpus)
        assert corpus._holding is not None
        assert 0 < corpus._holding._store.size < 5000
        (planted / "f7.txt").write_text("needle\n")
        assert answers(Server(corpus)) == answers(cold)
        corpus.close()


def test_the_index_is_computed_by_a_process_and_used(planted, monkeypatch):
    monkeypatch.setattr(holding, "MIN_INDEXED", 0)
    with Tree(str(planted)) as tree:
        corpus, cold = WarmCorpus(tree, 1 << 20), Server(ColdCorpus(tree))
        prepare(corpus)
        assert corpus._holding is not None
        assert corpus._holding._builder._thread is not None
        corpus._holding._builder._thread.join()
        assert answers(Server(corpus)) == answers(cold)
        assert corpus._holding._store._fresh == []
        (planted / "f7.txt").write_text("needle\n")
        assert answers(Server(corpus)) == answers(cold)
        prepare(corpus)
        assert answers(Server(corpus)) == answers(cold)
        corpus.close()


def test_an_index_that_is_done_while_one_looks_is_not_computed_again(planted, monkeypatch):
    monkeypatch.setattr(holding, "MIN_INDEXED", 10)

    class Sudden(Builder):
        """Whoever asks finds it just done: what the scheduler of a busy machine can always do."""

        @property
        def busy(self) -> bool:
            if self._thread is not None:
                self._thread.join()
            return False

    monkeypatch.setattr(holding, "Builder", Sudden)
    (planted / "many.txt").write_text("needle here\n" * 3)
    with Tree(str(planted)) as tree:
        corpus = WarmCorpus(tree, 1 << 30)
        prepare(corpus)
        corpus.idle()
        corpus.idle()
        request = json.dumps({"id": "1", "op": "grep", "args": {"pattern": "needle here"}}).encode()
        hits = json.loads(Server(corpus).answer(request))["result"]["hits"]
        corpus.close()
    assert [hit["line"] for hit in hits] == [1, 2, 3]


def test_an_idle_server_does_nothing(planted, pipe):
    server = pipe()
    warm(server)

    def cpu():
        fields = Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
        status = Path(f"/proc/{server.process.pid}/status").read_text()
        return fields[11:13], [line for line in status.splitlines() if "ctxt_switches" in line]

    def nothing_for_a_second():
        before = cpu()
        time.sleep(1)
        return cpu() == before

    # It may still have something to prepare.
    until(nothing_for_a_second, "the server does nothing")


def test_a_server_ends_while_it_prepares(planted, pipe):
    for number in range(2000):
        (planted / f"g{number}.txt").write_text("filler\n" * 50)
    server = pipe()
    server.ask("stat", path=".")
    assert server.close() == (0, b"")


def test_with_the_cache_switched_off_every_answer_is_the_same(planted, pipe):
    server, plain, tiny = pipe(), pipe("--no-cache"), pipe("--cache-bytes", "2000")
    warm(server)
    assert asked(server) == asked(plain) == asked(tiny)
    (planted / "d" / "a.txt").write_text("needle\n")
    assert asked(server) == asked(plain) == asked(tiny)
    assert plain.ask("grep", pattern="no such thing")["result"]["metrics"]["files_scanned"] > 40
