"""The console scripts start our packages, and no others."""

import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]


def program(name: str) -> str:
    """What an installer writes as the script of this name."""
    module, _, function = SCRIPTS[name].partition(":")
    return f"import sys\nfrom {module} import {function}\nsys.exit({function}())"


def run(folder: Path, name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a script in a folder, whose packages come first."""
    command = [sys.executable, "-c", program(name), *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


@pytest.fixture
def mixed(tmp_path: Path):
    """Makes a package of ours whose `__init__.py` another distribution has replaced, or removed with its own files."""

    def make(package: str, init: str | None) -> Path:
        (tmp_path / package).mkdir()
        for path in (ROOT / package).iterdir():
            if path.name != "__init__.py":
                (tmp_path / package / path.name).symlink_to(path)
        if init is not None:
            (tmp_path / package / "__init__.py").write_text(init)
        return tmp_path

    return make


@pytest.mark.parametrize("script", sorted(SCRIPTS))
@pytest.mark.parametrize("init", ["# another tool\n", "print 'another tool'\n", "raise SystemExit(3)\n", "\0", None])
def test_a_package_of_another_distribution_is_not_started(mixed, script, init):
    package = "zeno" if script.startswith("zeno") else "normalizer"
    done = run(mixed(package, init), script, "--version")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"{package}: another distribution has replaced files of the package '{package}' ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("script", sorted(SCRIPTS))
def test_our_own_package_is_started(tmp_path, script):
    done = run(tmp_path, script, "--version")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("zeno " if script.startswith("zeno") else "normalizer ")


@pytest.mark.parametrize(("script", "words"), [("zeno", ["doctor"]), ("zeno-mcp", ["--doctor"])])
def test_doctor_runs_even_if_the_other_package_cannot_be_loaded(mixed, script, words):
    done = run(mixed("zeno", "raise SystemExit(3)\n"), script, *words)
    assert done.returncode in (0, 1), done.stderr
    assert "problems found" in done.stdout or "problem found" in done.stdout


@pytest.mark.parametrize("script", sorted(SCRIPTS))
def test_ctrl_c_while_a_script_loads_ends_it_without_a_traceback(script):
    """An audit hook sends the signal at the import of a module that the script loads late."""
    interrupt = (
        "import os, signal, sys\n"
        "def hook(event, args):\n"
        "    if event == 'import' and args[0] in ('click', 'zeno.cli.parser'):\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.addaudithook(hook)\n"
    )
    command = [sys.executable, "-c", interrupt + program(script), "--version"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "")
