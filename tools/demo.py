"""Two screens that show what both packages do, with real commands; `python3 tools/dev.py demo` runs it.

It leaves a trace page and a report in build/demo, or in the folder that `--out` names. Output is at most 80 columns
wide, in colour only at a terminal.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WIDTH = 80
BOLD, BLUE, GREY = "1", "34", "2"
ENVIRONMENT = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"}
"""That of the caller, with the commands of this Python first."""


class Screen:
    """Prints titles, commands and their output."""

    def __init__(self) -> None:
        self._colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ

    def title(self, text: str) -> None:
        """A heading, with an empty line above it."""
        print(f"\n{self._in(BOLD, text)}")

    def command(self, text: str) -> None:
        """A command as one would type it."""
        print(self._in(BLUE, _clipped(f"$ {text}")))

    def lines(self, lines: list[str]) -> None:
        """Output, cut at the width of the screen."""
        for line in lines:
            print(_clipped(f"  {line.rstrip()}"))

    def note(self, text: str) -> None:
        """A remark on the output above it."""
        print(self._in(GREY, _clipped(f"  {text}")))

    def _in(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._colour else text


def _clipped(text: str) -> str:
    text = text.expandtabs()
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 3]}..."


def run(out: Path, *command: str, text: str = "", ends: tuple[int, ...] = (0,)) -> list[str]:
    """Run `zeno` or `normalizer` in `out` with this Python; the lines of its standard output and error."""
    words = [sys.executable, "-m", *command]
    done = subprocess.run(words, input=text, cwd=out, capture_output=True, encoding="utf-8", env=ENVIRONMENT)
    if done.returncode not in ends:
        raise SystemExit(f"the demo cannot go on: {' '.join(command)}\n{done.stderr}")
    return (done.stdout + done.stderr).splitlines()


def ask_over_mcp(out: Path, root: str) -> list[str]:
    """Call the tool `grep` as an agent would; the text that the model gets."""
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "demo", "version": "1"}}
    grep = {"name": "grep", "arguments": {"pattern": "session_seconds", "paths": ["lantern"]}}
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": grep},
    ]
    process = subprocess.Popen(
        [sys.executable, "-m", "zeno", "mcp", root],
        cwd=out,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    assert process.stdin is not None
    assert process.stdout is not None
    with process:
        for message in messages:
            print(json.dumps(message), file=process.stdin, flush=True)
        answers = [json.loads(process.stdout.readline()) for _ in range(2)]
        process.stdin.close()
    text: str = answers[1]["result"]["content"][0]["text"]
    return text.splitlines()


def show_zeno(screen: Screen, out: Path) -> None:
    """An agent asks over MCP; an investigation is recorded, checked, and made into a page."""
    screen.title("Zeno: an agent asks about a code base")
    screen.command("zeno mcp tree        # the tool call: grep session_seconds")
    screen.lines(ask_over_mcp(out, "tree"))
    screen.note("Read-only, sorted, the same every time; `complete`: nothing is missing.")
    screen.command("zeno call tree read_file ../etc/passwd")
    screen.lines(
        [json.loads(run(out, "zeno", "call", "tree", "read_file", "../etc/passwd", ends=(1,))[0])["error"]["code"]]
    )
    screen.command("zeno trace record --root tree --log trace.jsonl -- python agent.py")
    run(out, "zeno", "trace", "record", "--root", "tree", "--log", "trace.jsonl", "--", sys.executable, "agent.py")
    screen.command("zeno trace verify trace.jsonl tree")
    lines = run(out, "zeno", "trace", "verify", "trace.jsonl", "tree", ends=(1,))
    fails = next(number for number, line in enumerate(lines) if line.startswith("FAILS"))
    screen.lines([lines[0], "...", *lines[fails:]])
    screen.note("The last claim is true, but the agent never read that file: it guessed.")
    screen.command("zeno trace view trace.jsonl tree --out trace.html")
    screen.lines(run(out, "zeno", "trace", "view", "trace.jsonl", "--root", "tree", "--out", "trace.html"))


def show_normalizer(screen: Screen, out: Path) -> None:
    """Five judge runs become records, a table and a report."""
    screen.title("normalizer: two judges scored 24 files, with the mistakes that judges make")
    shell = ["sh", "study/all-runs.sh", "ledger"]
    made = subprocess.run(shell, cwd=out, capture_output=True, encoding="utf-8", env=ENVIRONMENT)
    if made.returncode:
        raise SystemExit(f"the demo cannot go on: {made.stderr}")
    screen.command("normalizer normalize BUNDLE --manifest RUN.json --out ledger      # 5 times")
    screen.lines(made.stdout.splitlines())
    screen.note("Nothing is repaired or dropped; an INVALID record keeps its reasons:")
    record = next(
        one["record_id"]
        for one in map(json.loads, (out / "ledger" / "invalid.jsonl").read_text(encoding="ascii").splitlines())
        if one["reasons"][0]["code"] == "score_not_allowed"
    )
    screen.command(f"normalizer explain ledger {record[:8]}")
    lines = run(out, "normalizer", "explain", "ledger", record[:8])
    reason = next(number for number, line in enumerate(lines) if line.startswith("score_not_allowed"))
    screen.lines(lines[reason : reason + 3])
    screen.command("normalizer aggregate ledger --by generator_model --where phase=1")
    by = ["--by", "generator_model", "--where", "phase=1"]
    screen.lines(run(out, "normalizer", "aggregate", "ledger", *by)[:3])
    screen.command("normalizer report ledger --where phase=1 --out report.html")
    screen.lines(run(out, "normalizer", "report", "ledger", "--where", "phase=1", "--out", "report.html"))


def main(argv: list[str] | None = None) -> int:
    """Run both parts in a fresh folder and say what to do next."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "demo", help="folder (default: build/demo)")
    out = parser.parse_args(argv).out.absolute()
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(ROOT / "docs" / "investigation", out)
    shutil.copytree(ROOT / "docs" / "example-study", out / "study")
    screen = Screen()
    show_zeno(screen, out)
    show_normalizer(screen, out)
    screen.title("What next")
    where = out.relative_to(Path.cwd()) if out.is_relative_to(Path.cwd()) else out
    screen.lines(
        [
            f"open {where}/trace.html       what the agent saw, cited and missed",
            f"open {where}/report.html      every number down to raw lines",
            "README.md                        two jobs, five minutes each",
            "docs/guides/interfaces.md#configuration      set up your own agent",
        ]
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
