"""Functions in forked copies of a process."""

import subprocess
import sys

# The limit is set in a process of its own, in which no other test needs descriptors.
AT_THE_LIMIT = """
import os, resource
from zeno.forked import Forked

first, second = os.pipe()
os.close(first)
os.close(second)
resource.setrlimit(resource.RLIMIT_NOFILE, (second + 1, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
print(Forked(lambda: b"an answer").wait(None))
"""


def test_a_copy_answers_when_its_pipe_took_the_last_descriptors():
    done = subprocess.run([sys.executable, "-c", AT_THE_LIMIT], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "b'an answer'\n", "")
