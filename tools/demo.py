"""A small tree, a real server on real pipes, and every operation asked: what `python3 tools/dev.py demo` shows."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

TREE = {
    "README.md": "# Ferry\n\nTimetables for a small ferry.\n\n## Use\n\nRun `ferry next`.\n",
    "src/ferry/timetable.py": (
        "from datetime import time\n\nDEPARTURES = [time(7, 15), time(9, 40), time(17, 5)]\n\n\n"
        "def next_departure(now):\n    # TODO: the last ferry of the day is missed\n"
        "    return min(t for t in DEPARTURES if t > now)\n\n\n"
        "class Timetable:\n    def is_empty(self):\n        return False\n"
    ),
    "src/ferry/main.go": "package main\n\nfunc main() {\n\t// TODO: parse flags\n}\n",
    ".env": "TOKEN=hidden\n",
}

ASKED: list[tuple[str, dict[str, Any]]] = [
    ("list_files", {"glob": "**/*.py"}),
    ("peek", {"path": "README.md", "head_lines": 1, "tail_lines": 1}),
    ("grep", {"pattern": "todo", "case_sensitive": False}),
    ("read_file", {"path": "src/ferry/timetable.py", "start_line": 6, "end_line": 8}),
    ("extract_symbols", {"path": "src/ferry/timetable.py"}),
    ("stat", {"paths": ["README.md", "CHANGELOG.md"]}),
    ("verify", {"citations": [{"path": "README.md", "start_line": 3, "end_line": 3, "text": "Run `ferry next`."}]}),
    ("describe", {"schemas": False}),
    ("read_file", {"path": "../etc/passwd"}),
]


def plant(root: Path) -> None:
    """Write the tree, which the README shows too."""
    for path, text in TREE.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def main() -> int:
    """Show the exchange; fail if an answer is not what it must be."""
    with tempfile.TemporaryDirectory() as folder:
        plant(Path(folder))
        print(f"$ zeno serve --root ferry    # {len(TREE)} files, one of them hidden\n")
        requests = [{"id": str(number), "op": op, "args": args} for number, (op, args) in enumerate(ASKED, 1)]
        lines = "".join(json.dumps(request) + "\n" for request in requests)
        command = [sys.executable, "-m", "zeno", "serve", "--root", folder]
        done = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    for request, answer in zip(requests, answers, strict=True):
        print(f"> {json.dumps(request)}\n< {json.dumps(answer, ensure_ascii=False)}\n")
    wrong = [answer for answer in answers[:-1] if not answer["ok"]]
    return 1 if wrong or answers[-1]["ok"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
