"""What a machine may lack: a test that needs it is skipped with the reason, but fails in CI, where it must be there."""

import os
import shutil
from typing import NoReturn

import pytest

IN_CI = os.environ.get("CI") == "true"


def lacking(what: str) -> NoReturn:
    """End the test that runs now: it needs what is not there."""
    (pytest.fail if IN_CI else pytest.skip)(what)


def needs(program: str, package: str) -> pytest.MarkDecorator:
    """Marks a test that starts a program; in CI it is started even where there is none, and fails."""
    reason = f"needs {program} (Debian: apt-get install {package})"
    return pytest.mark.skipif(shutil.which(program) is None and not IN_CI, reason=reason)
