"""A process that may fork, for the tests of what two processes do together."""

import json
import subprocess
import sys

import pytest


@pytest.fixture(scope="module")
def differences():
    """Asks a process with one thread, whatever the test runner has: what differs if two processes answer."""
    command = [sys.executable, "-m", "tests.support.fork_helper_probe"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        sent, received = process.stdin, process.stdout

        def ask(root, asked):
            requests = [{"id": "1", "op": op, "args": args} for op, args in asked]
            sent.write(json.dumps({"root": str(root), "requests": requests}) + "\n")
            return json.loads(received.readline())

        yield ask
        process.communicate()
