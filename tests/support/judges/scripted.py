"""A judge that is a program of its own: it does what the file it is to judge tells it to, wrong as that is.

Each line `BEHAVE word ...` of the file adds a behaviour. Every call is noted in the file named by CALLS, after the
word in ROUND, so that tests can count them. Standard library only, and nothing of this project.
"""

import json
import os
import sys
import time

GOOD = (
    '{"scores": {"A_structure": 2, "B_snapshot_constraint": 1.0, "C_actionability": 1e0, '
    '"D_completeness": 2, "E_drift_failure": 0}, "notes": "sound"}'
)


def main() -> int:
    data = sys.stdin.buffer.read()
    document = json.loads(data)
    text = document["file"].get("text", "")
    with open(os.environ["CALLS"], "a", encoding="utf-8") as calls:
        calls.write(f"{os.environ.get('ROUND', '')} {json.dumps(document['file'])}\n")
    with open(os.environ["CALLS"], encoding="utf-8") as calls:
        asked = calls.read().count(json.dumps(document["file"]) + "\n")
    for line in text.splitlines():
        word, _, rest = line.partition(" ")
        if word != "BEHAVE":
            continue
        kind, _, argument = rest.partition(" ")
        if kind == "slow":
            time.sleep(float(argument))
        elif kind == "until":
            end = time.monotonic() + 600
            while not os.path.exists(argument) and time.monotonic() < end:
                time.sleep(0.01)
        elif kind == "say":
            sys.stdout.write(json.loads(argument))
            return 0
        elif kind == "fail":
            sys.stdout.write("half a rep")
            sys.stderr.write("warming up\nno model loaded\n")
            return int(argument)
        elif kind == "huge":
            while True:
                sys.stdout.write("x" * 65536)
        elif kind == "late" and asked < int(argument):
            sys.stdout.write(f"```json\n{GOOD}\n```")
            return 0
    print(GOOD)
    return 0


if __name__ == "__main__":
    sys.exit(main())
