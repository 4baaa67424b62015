"""The wheel in empty environments: one-line starts with uv and pipx, and beside distributions that have our names."""

import json
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.support.patience import PATIENCE
from tests.support.wheel import ROOT, empty_environment, require_index

VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
INITIALIZE = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}

pytestmark = pytest.mark.xdist_group("install")


@pytest.fixture(scope="module")
def user(tmp_path_factory):
    environment = empty_environment(tmp_path_factory.mktemp("user") / "home")
    require_index(environment)
    return environment


def run(user: dict[str, str], *command: str, text: str = "", status: int = 0) -> str:
    done = subprocess.run(
        command, input=text, env=user, cwd=user["HOME"], capture_output=True, text=True, timeout=5 * PATIENCE
    )
    assert done.returncode == status, done.stderr
    return done.stdout + done.stderr


def environment_with(user: dict[str, str], folder: Path, *packages: str) -> Path:
    """A virtual environment with packages installed one after the other; the folder of its commands."""
    run(user, "uv", "venv", "--quiet", str(folder))
    for package in packages:
        run(user, "uv", "pip", "install", "--quiet", "--python", str(folder / "bin" / "python"), package)
    return folder / "bin"


def test_uvx_starts_an_mcp_server_on_a_folder(user, tmp_path):
    (tmp_path / "a.txt").write_text("hello\n")
    asked = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "list_files", "arguments": {}}},
    ]
    command = ["uvx", "--quiet", "--from", "zeno-normalizer[mcp]", "zeno-mcp", str(tmp_path)]
    with subprocess.Popen(command, env=user, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for message in asked:
            print(json.dumps(message), file=process.stdin, flush=True)
        answers = [json.loads(process.stdout.readline()) for _ in range(2)]
        process.stdin.close()
    assert answers[0]["result"]["serverInfo"]["name"] == "zeno"
    assert answers[1]["result"]["structuredContent"]["files"] == ["a.txt"]


def test_uvx_runs_every_script(user):
    for script, name in (("zeno", "zeno"), ("zeno-mcp", "zeno"), ("normalizer", "normalizer")):
        assert run(user, "uvx", "-q", "--from", "zeno-normalizer", script, "--version").split()[:2] == [name, VERSION]
    assert run(user, "uvx", "-q", "--from", "zeno-normalizer", "eval-normalizer", "--version").startswith("normalizer ")


def test_doctor_names_the_extras_of_an_installation_by_uv_and_how_to_add_one(tmp_path):
    user = empty_environment(tmp_path / "home")
    require_index(user)
    run(user, "uv", "tool", "install", "zeno-normalizer[mcp,report]")
    told = run(user, "zeno", "doctor")
    assert re.search(r"^ok +extra +mcp$", told, re.MULTILINE), told
    assert re.search(r"^ok +extra +report$", told, re.MULTILINE), told
    assert "export is not installed (pyarrow); uv tool install 'zeno-normalizer[export,mcp,report]'" in told


def test_pipx_runs_a_script(user):
    pipx = ["uvx", "-q", "pipx", "run", "--spec", "zeno-normalizer"]
    assert f"normalizer {VERSION}\nprotocol eval-" in run(user, *pipx, "eval-normalizer", "--version")


@pytest.mark.parametrize(
    ("package", "megabytes", "packages"),
    [("zeno-normalizer", 90, 30), ("zeno-normalizer[all]", 450, 70)],
)
def test_an_installation_is_no_larger_than_promised(user, tmp_path, package, megabytes, packages):
    # With the locked versions: a new release of another package must not decide whether this passes.
    locked = {**user, "UV_CONSTRAINT": str(ROOT / "tools" / "locks" / "dev.txt")}
    commands = environment_with(locked, tmp_path / "env", package)
    files = [path for path in (tmp_path / "env" / "lib").rglob("*") if path.is_file() and not path.is_symlink()]
    assert sum(path.stat().st_size for path in files) < megabytes << 20
    listed = run(user, "uv", "pip", "list", "--quiet", "--format", "freeze", "--python", str(commands / "python"))
    assert len(listed.splitlines()) <= packages


def test_a_fresh_environment_has_no_problem(user, tmp_path):
    commands = environment_with(user, tmp_path / "env", "zeno-normalizer")
    told = run(user, str(commands / "zeno"), "doctor")
    assert "no other distribution has our packages or commands" in told
    assert told.endswith("0 problems found\n")
    assert f"mcp is not installed (mcp); uv pip install --python {commands / 'python'} 'zeno-normalizer[mcp]'" in told


def test_beside_another_zeno_that_came_later_we_stop_and_say_why(user, tmp_path):
    commands = environment_with(user, tmp_path / "env", "zeno-normalizer", "zeno==0.0.7")
    told = run(user, str(commands / "zeno-mcp"), ".", status=2)
    assert "another distribution has replaced files of the package 'zeno'" in told
    told = run(user, str(commands / "zeno-mcp"), "--doctor", status=1)
    assert "zeno 0.0.7 also installs a package zeno" in told
    assert "1 file of ours was changed or removed: zeno/__init__.py" in told


def test_beside_another_zeno_that_came_first_doctor_warns(user, tmp_path):
    commands = environment_with(user, tmp_path / "env", "zeno==0.0.7", "zeno-normalizer")
    assert run(user, str(commands / "zeno"), "--version").startswith(f"zeno {VERSION}")
    assert "zeno 0.0.7 also installs a package zeno" in run(user, str(commands / "zeno"), "doctor", status=1)


def test_beside_another_normalizer_that_came_later_our_other_name_stops_and_says_why(user, tmp_path):
    commands = environment_with(user, tmp_path / "env", "zeno-normalizer", "normalizer==0.2.1")
    told = run(user, str(commands / "eval-normalizer"), "--version", status=2)
    assert told.startswith("normalizer: another distribution has replaced files of the package 'normalizer'")
    assert "normalizer 0.2.1 also installs a package normalizer" in run(
        user, str(commands / "zeno"), "doctor", status=1
    )


def test_beside_charset_normalizer_our_other_name_still_runs(user, tmp_path):
    commands = environment_with(user, tmp_path / "env", "zeno-normalizer", "charset-normalizer")
    assert run(user, str(commands / "eval-normalizer"), "--version").startswith("normalizer ")
    told = run(user, str(commands / "zeno"), "doctor")
    assert "also installs a command normalizer: the last one installed runs; eval-normalizer is ours alone" in told
