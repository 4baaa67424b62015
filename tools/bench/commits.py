"""Race of searches in commits beside `git grep REV`, in processor time: both use as many cores as there are."""

import time
from pathlib import Path
from statistics import median

from tools.bench.servers import PATIENCE, Server, git, serve, timed

WORD = "zqxjzqxj"
# The next commit is the one whose changed files are nearest to this number, among so many.
CHANGED, LOOKED_AT = 100, 300


def race(root: Path, rounds: int) -> None:
    """Print seconds of processors: the first search, the next commit, and warm searches here and in the directory."""
    first = git(root, "rev-parse", "HEAD")
    near = _find_near(root, first)
    files = len(git(root, "ls-tree", "-r", "--name-only", first).splitlines())
    share = 100 * _count_changed_bytes(root, near[1], first) / _count_bytes(root, first)
    print(f"{root}: {files} files; the next commit differs in {near[0]}, with {share:.1f} % of the bytes")
    firsts, ready, nexts, next_ready, theirs = [], [], [], [], []
    warm: list[float] = []
    here: list[float] = []
    peak = selected = 0
    for _ in range(rounds):
        theirs.append(timed(["git", "grep", "-c", WORD, first], root).processor)
        with serve(root) as server:
            _settle(server)
            start = server.all_processor_seconds
            selected = server.grep(WORD, rev=first)[1]["files_selected"]
            firsts.append(server.all_processor_seconds - start)
            _settle(server)
            ready.append(server.all_processor_seconds - start)
            warm += [server.grep(WORD, rev=first)[0] for _ in range(20)]
            here += [server.grep(WORD)[0] for _ in range(20)]
            start = server.all_processor_seconds
            server.grep(WORD, rev=near[1])
            nexts.append(server.all_processor_seconds - start)
            _settle(server)
            next_ready.append(server.all_processor_seconds - start)
            peak = server.peak_bytes
    print(f"git grep REV                 {median(theirs):7.2f} s ({min(theirs):.2f})")
    for name, found in (("first search", firsts), ("next commit, first search", nexts)):
        print(f"{name:28} {median(found):7.2f} s ({min(found):.2f}), {min(found) / min(theirs):.2f} times git grep")
    for name, found in (("first commit ready", ready), ("next commit ready", next_ready)):
        print(f"{name:28} {median(found):7.2f} s ({min(found):.2f}), {min(found) / min(ready):.3f} of the first")
    print(f"warm at the commit           {min(warm) * 1e3:7.2f} ms by the clock")
    print(f"warm in the directory        {min(here) * 1e3:7.2f} ms by the clock")
    print(f"most memory of the server    {peak / 1e6:7.0f} MB; files searched {selected}")


def _find_near(root: Path, first: str) -> tuple[int, str]:
    """Return the commit before the first one whose number of changed files is nearest to `CHANGED`, and that number."""
    found = [
        (len(git(root, "diff-tree", "-r", "--name-only", rev, first).splitlines()), rev)
        for rev in git(root, "rev-list", "--first-parent", f"--max-count={LOOKED_AT}", first).split()[1:]
    ]
    return min(found, key=lambda one: abs(one[0] - CHANGED))


def _count_bytes(root: Path, rev: str) -> int:
    sizes = (line.split(maxsplit=4)[3] for line in git(root, "ls-tree", "-r", "-l", rev).splitlines())
    return sum(int(size) for size in sizes if size.isdecimal())


def _count_changed_bytes(root: Path, rev: str, first: str) -> int:
    ids = {line.split()[2] for line in git(root, "diff-tree", "-r", first, rev).splitlines()}
    sizes = (line.split(maxsplit=4)[2:4] for line in git(root, "ls-tree", "-r", "-l", first).splitlines())
    return sum(int(size) for one, size in sizes if one in ids)


def _settle(server: Server) -> None:
    """Wait until the server has no background work."""
    start, before = time.monotonic(), -1.0
    while before != (before := server.all_processor_seconds) and time.monotonic() - start < PATIENCE:
        time.sleep(1)
