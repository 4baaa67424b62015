"""A neighbour moves directories and files out of the root, writes there, and moves them back: nothing of that is told.

Outside, files say MARKER. Before anything is moved back, they are written anew. So it is never beneath the root, and
must be in no answer.
"""

import subprocess
import sys
import time
from typing import Any

import pytest
from contract_spec.operations import requests

from tests.support.patience import PATIENCE, until

MARKER = "written_outside"
FILES = 12
ROUNDS = 40
# More than a few milliseconds for each file, so that a search spends its time between files.
SLOW = r"(?i)(\pL?\pN?){12}needle"

MOVER = """
import os, sys
root, outside, marker = sys.argv[1:4]
print("ready", flush=True)
names = [f"a{number:02}.py" for number in range(int(sys.argv[4]))]
INSIDE, OUTSIDE = b"def inside(): needle ", b"def %b(): needle " % marker.encode()
inside, there = os.path.join(root, "d", "sub"), os.path.join(outside, "sub")

def write(path, text):
    with open(path, "r+b") as file:
        file.write(text.ljust(4000, b"x")[:3999] + b"\\n")

while True:
    # A directory
    os.rename(os.path.join(root, "d"), outside)
    for name in names:
        write(os.path.join(there, name), OUTSIDE)
    for name in names:
        write(os.path.join(there, name), INSIDE)
    os.rename(outside, os.path.join(root, "d"))
    # One file
    away = outside + ".txt"
    for name in names[:3]:
        os.rename(os.path.join(inside, name), away)
        write(away, OUTSIDE)
        write(away, INSIDE)
        os.rename(away, os.path.join(inside, name))
"""

REQUESTS: list[tuple[str, dict[str, Any]]] = [
    *requests("d/sub/a00.py", "needle"),
    ("grep", {"pattern": "needle", "max_line_chars": 60}),
    ("grep", {"pattern": SLOW, "regex": True, "max_line_chars": 60}),
    ("read_file", {"path": "d/sub/a01.py", "max_line_chars": 60}),
]


@pytest.mark.parametrize("flags", [(), ("--no-cache",)], ids=["warm", "cold"])
def test_what_a_neighbour_writes_outside_is_in_no_answer(root, pipe, flags):
    (root / "d" / "sub").mkdir(parents=True)
    for number in range(FILES):
        (root / "d" / "sub" / f"a{number:02}.py").write_text("def inside(): needle ".ljust(3999, "x") + "\n")
    server = pipe(*flags)
    server.ask("stat", path=".")
    command = [sys.executable, "-c", MOVER, str(root), str(root.parent / "outside"), MARKER, str(FILES)]
    seen = {"there": 0, "gone": 0}
    with subprocess.Popen(command, stdout=subprocess.PIPE) as neighbour:
        assert neighbour.stdout is not None
        neighbour.stdout.readline()
        try:
            deadline = time.monotonic() + PATIENCE / 2
            rounds = 0
            # So often at least, and as long as it takes for the race to be on.
            while rounds < ROUNDS or (min(seen.values()) < 20 and time.monotonic() < deadline):
                rounds += 1
                for op, args in REQUESTS:
                    answer = server.ask(op, **args)
                    assert MARKER not in str(answer), f"{op} in round {rounds}: {answer}"
                    if op == "stat":
                        seen["there" if answer["result"]["items"][0]["exists"] else "gone"] += 1
        finally:
            neighbour.kill()
    assert min(seen.values()) >= 20, f"the race did not happen: {seen}"
    until(lambda: neighbour.poll() is not None, "the neighbour has ended")
