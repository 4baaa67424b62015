"""A judge for the tutorial: it counts numbered steps, so that everyone gets the same scores. A model goes here.

It reads the input on standard input (rules, scale, file) and writes the reply on standard output. Called with a number,
it says nothing about files of fewer steps, as a model does that refuses.
"""

import json
import re
import sys

KEYS = ["A_structure", "B_snapshot_constraint", "C_actionability", "D_completeness", "E_drift_failure"]


def main() -> int:
    """Judge one file."""
    lines = json.load(sys.stdin)["file"]["text"].split("\n")[1:-1]  # between the BEGIN and the END line
    steps = [line for line in lines if re.match(r"[0-9]+\. ", line)]
    if len(sys.argv) > 1 and len(steps) < int(sys.argv[1]):
        return 0
    level = min(len(steps), 4) // 2
    evidence = steps[-1] if steps else lines[0]
    reply = {
        "scores": dict.fromkeys(KEYS, level),
        "evidence": dict.fromkeys(KEYS, evidence),
        "total": level * len(KEYS),
        "notes": f"{len(steps)} steps",
    }
    print(json.dumps(reply))
    return 0


if __name__ == "__main__":
    sys.exit(main())
