"""Make the environment of a tool: a virtual environment, and a folder of npm packages where it needs one."""

import subprocess
import sys
from pathlib import Path

from tools.realtools.tools import Tool


class NotInstalled(Exception):
    """The tool's packages cannot be installed here. The message says why."""


def install(folder: Path, tool: Tool, seconds: float) -> Path:
    """Install a tool below a folder; an environment that is there is used again. Returns its Python.

    Raises NotInstalled, also if it takes longer than `seconds`.
    """
    environment = folder / "environment"
    python = environment / "bin" / "python"
    if not python.exists():
        _run([sys.executable, "-m", "uv", "venv", "--quiet", "--seed", str(environment)], seconds)
    ready = folder / "installed.txt"
    wanted = "\n".join((*tool.packages, *tool.npm, *tool.alone))
    if ready.exists() and ready.read_text() == wanted:
        return python
    pip = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", str(python)]
    if tool.packages:
        _run([*pip, *tool.packages], seconds)
    if tool.alone:
        _run([*pip, "--no-deps", *tool.alone], seconds)
    if tool.npm:
        _run(["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(folder), *tool.npm], seconds)
    ready.write_text(wanted)
    return python


def _run(command: list[str], seconds: float) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotInstalled(f"{command[0]}: {error}"[:200]) from None
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise NotInstalled((said[0] if said else f"status {done.returncode}")[:200])
