"""An investigation as an agent would lead it, written down as a script so that it can be run again.

    zeno trace record --root docs/investigation/tree --log trace.jsonl -- python docs/investigation/agent.py

`zeno trace record` says where the trace and the tree are; the server and the recorder both write to that trace.
"""

import json
import os
import subprocess
from typing import Any

from zeno.trace.recorder import ROOT, TRACE, Recorder


class Zeno:
    """A server and its pipes."""

    def __init__(self) -> None:
        command = ["zeno", "serve", "--root", os.environ[ROOT], "--log", os.environ[TRACE]]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._number = 0

    def ask(self, op: str, **args: Any) -> Any:
        """One request, one answer."""
        self._number += 1
        print(json.dumps({"id": f"r{self._number}", "op": op, "args": args}), file=self._process.stdin, flush=True)
        return json.loads(self._process.stdout.readline())

    def close(self) -> None:
        """End the server."""
        self._process.communicate()


def main() -> None:
    """From the question to the claims."""
    zeno, record = Zeno(), Recorder.of_environment()

    # What is this? The question names a setting and a symptom.
    zeno.ask("read_file", path="README.md", start_line=1, end_line=40)
    zeno.ask("list_files")
    zeno.ask("grep", pattern="session has ended", context=4)

    # One half of the question: who ends a session, and when?
    with record.subcall("who ends a session, and when?") as half:
        zeno.ask("extract_symbols", path="lantern/session.py")
        zeno.ask("read_file", path="lantern/session.py", start_line=22, end_line=46)
        zeno.ask("grep", pattern="expires", paths=["lantern"], max_hits=4)
        zeno.ask("read_file", path="lantern/store/memory.py", start_line=12, end_line=22)
        record.claim(
            "A session ends session_seconds after sign-in; nothing renews it while it is used.",
            [("lantern/session.py", 29, 34), ("lantern/session.py", 36, 42), ("lantern/store/memory.py", 16, 22)],
            id="ends",
        )
        half.outcome = "the store does, session_seconds after sign-in"

    # The other half: how long is that really?
    with record.subcall("how long is session_seconds?") as half:
        zeno.ask("grep", pattern=r"session(_seconds)?\b.*=", regex=True, paths=["lantern", "config"])
        zeno.ask("peek", path="config/lantern.conf", head_lines=10, tail_lines=0)
        with record.subcall("how is `1h` read?") as reading:
            zeno.ask("read_file", path="lantern/setting.py")
            zeno.ask("read_file", path="lantern/settings.py", start_line=16, end_line=37)
            record.claim(
                "An hour is read as 60 seconds: the table of units has 60 for h as for m.",
                [("lantern/settings.py", 34, 37)],
                id="unit",
            )
            nothing = zeno.ask("grep", pattern="1h", paths=["tests"])
            record.claim("No test has `1h` in it.", answers=[nothing["id"]], id="untested")
            reading.outcome = "as 60 seconds"
        record.claim("The branch asks for one hour.", [("config/lantern.conf", 2, 2)], id="asks")
        half.outcome = "a minute"

    # What it adds up to, and one thing said too quickly: those lines were never read.
    record.claim(
        "Readers are signed out after a minute because settings.py reads `session = 1h` as 60 seconds.",
        [("config/lantern.conf", 2, 2), ("lantern/settings.py", 36, 37)],
        id="answer",
    )
    record.claim("The tests cover seconds and minutes, but no hours.", [("tests/test_settings.py", 6, 11)], id="tests")
    zeno.close()
    record.close()


if __name__ == "__main__":
    main()
