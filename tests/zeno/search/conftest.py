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

        def ask(root, asked):
            requests = [{"id": "1", "op": op, "args": args} for op, args in asked]
            process.stdin.write(json.dumps({"root": str(root), "requests": requests}) + "\n")
            return json.loads(process.stdout.readline())

        yield ask
        process.communicate()
