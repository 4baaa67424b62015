"""A change made before a request is sent is seen by that request: real servers, real processes that change things."""

import errno
import os
import subprocess
import sys
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from contract_models.zeno.ops.grep import GrepArgs

from tests.conftest import Pipe
from tests.support.patience import until
from tests.support.planting import answers, asked, cold_answers, plant, prepare, warm
from zeno.cache.warm_corpus import WarmCorpus
from zeno.files.tree import Tree
from zeno.interfaces.stdio import serve
from zeno.search.selection import Rules
from zeno.session.server import Server

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
    "create an empty hidden directory": "mkdir .h",
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


@pytest.fixture(scope="module")
def served(tmp_path_factory, room_to_watch):
    """A root, and one server on it for all changes."""
    root = tmp_path_factory.mktemp("served") / "root"
    root.mkdir()
    server = Pipe(root)
    yield root, server
    assert server.close() == (0, b"")


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
        # The server may be reading ahead there, and keeps the mount busy until it has read the directory.
        until(lambda: subprocess.run(["umount", planted / "d"], capture_output=True).returncode == 0, "unmounted")
    assert asked(server) == cold_answers(planted)


def unprivileged(planted: Path, corpus: str) -> Pipe:
    """A server that may not read everything, as the superuser may: somebody else's, with everything imported before."""
    code = (
        "import os, subprocess, sys, zeno.cache.located, zeno.cache.tree_cache\n"
        "from zeno.session.dispatch import OPS, prepare\n"
        "from zeno.search.corpus import ColdCorpus\n"
        "from zeno.cache.warm_corpus import WarmCorpus\n"
        "from zeno.interfaces.stdio import serve\n"
        "from zeno.session.server import Server\n"
        "from zeno.files.tree import Tree\n"
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
    assert corpus._cache.listing.needs_walk
    monkeypatch.undo()
    (planted / "e2").chmod(0o700)
    assert answers(server) == answers(cold)
    assert not corpus._cache.listing.needs_walk


def test_a_snapshot_is_given_again_until_the_rules_leave_other_files(planted, both):
    corpus, _, _ = both
    prepare(corpus)
    rules = Rules.of(GrepArgs(pattern="needle"))
    before = corpus.snapshot(rules)
    (planted / "d" / "a.txt").write_text("other text\n")
    assert corpus.snapshot(rules) is before
    (planted / "d" / "new.txt").write_text("needle\n")
    after = corpus.snapshot(rules)
    assert after is not before
    assert after.candidates.paths != before.candidates.paths


def test_changes_are_applied_while_nobody_asks(planted):
    """Otherwise the kernel's queue overflows when many files are replaced, and the whole tree has to be read again."""
    source, requests = os.pipe()
    seen: list[bool] = []

    def change(corpus: WarmCorpus) -> None:
        try:
            until(lambda: corpus.is_warm and not corpus.has_pending_work, "the tree is cached")
            cache = corpus._cache
            (planted / "new.txt").write_text("new\n")
            until(lambda: cache is not None and "new.txt" in cache.entries, "the new file is listed")
            (planted / "new.txt").write_text("another text\n")
            assert cache is not None
            entry = cache.entries["new.txt"]
            until(lambda: entry.text and b"another" in entry.text.read(), "its new text is held")
            seen.append(corpus._cache is cache)
        finally:
            os.close(requests)

    with Tree(str(planted)) as tree, open(os.devnull, "w") as sink:
        server = Server(corpus := WarmCorpus(tree, 1 << 24))
        neighbour = Thread(target=change, args=[corpus])
        neighbour.start()
        serve(server, source, sink.fileno())
        neighbour.join()
        server.close()
    os.close(source)
    assert seen == [True]
