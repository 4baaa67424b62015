"""Race of searches in commits beside `git grep REV`, in processor time: both use as many cores as there are."""

import resource
import subprocess
import time
from pathlib import Path
from statistics import median

from tools.bench.servers import PATIENCE, ZENO, Server

WORD = "zqxjzqxj"
EVERYWHERE = {"pattern": WORD, "max_files": 10_000_000}
# The next commit is the one whose changed files are nearest to this number, among so many.
CHANGED, LOOKED_AT = 100, 300


def race(root: Path, rounds: int) -> None:
    """Print seconds of processors: the first search, the next commit, and warm searches here and in the directory."""
    first = _git(root, "rev-parse", "HEAD")
    near = _find_near(root, first)
    files = len(_git(root, "ls-tree", "-r", "--name-only", first).splitlines())
    print(f"{root}: {files} files; the next commit differs in {near[0]}")
    firsts, ready, nexts, next_ready, theirs = [], [], [], [], []
    warm: list[float] = []
    here: list[float] = []
    peak = selected = 0
    for _ in range(rounds):
        theirs.append(_time_git_grep(root, first))
        with Server([*ZENO, str(root), "--cache-bytes", str(8 << 30)]) as server:
            _settle(server)
            start = _spent(server)
            selected = server.ask("grep", rev=first, **EVERYWHERE)[1]["files_selected"]
            firsts.append(_spent(server) - start)
            _settle(server)
            ready.append(_spent(server) - start)
            warm += [server.ask("grep", rev=first, **EVERYWHERE)[0] for _ in range(20)]
            here += [server.ask("grep", **EVERYWHERE)[0] for _ in range(20)]
            start = _spent(server)
            server.ask("grep", rev=near[1], **EVERYWHERE)
            nexts.append(_spent(server) - start)
            _settle(server)
            next_ready.append(_spent(server) - start)
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
        (len(_git(root, "diff-tree", "-r", "--name-only", rev, first).splitlines()), rev)
        for rev in _git(root, "rev-list", "--first-parent", f"--max-count={LOOKED_AT}", first).split()[1:]
    ]
    return min(found, key=lambda one: abs(one[0] - CHANGED))


def _git(root: Path, *args: str) -> str:
    done = subprocess.run(["git", "-C", str(root), *args], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def _time_git_grep(root: Path, rev: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(["git", "-C", str(root), "grep", "-c", WORD, rev], capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _spent(server: Server) -> float:
    """Seconds of processors so far, of the server and the processes that it has waited for."""
    with open(f"/proc/{server.process.pid}/stat") as status:
        fields = status.read().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / 100


def _settle(server: Server) -> None:
    """Wait until the server has no background work."""
    start, before = time.monotonic(), -1.0
    while before != (before := _spent(server)) and time.monotonic() - start < PATIENCE:
        time.sleep(1)
