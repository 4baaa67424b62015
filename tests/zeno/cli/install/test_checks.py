"""`zeno doctor` in real environments: this one, and one where another distribution claims our names."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

from zeno.cli.install import checks
from zeno.confinement import landlock, seccomp

ROOT = Path(__file__).parents[4]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
MODULES = {"vl-convert-python": "vl_convert"}


def required(extra: str) -> set[str]:
    """Modules of an extra's own requirements."""
    names = {line.split(">")[0].split("=")[0].split("[")[0] for line in PROJECT["optional-dependencies"][extra]}
    return {MODULES.get(name, name.replace("-", "_")) for name in names}


def plant(folder: Path, name: str, files: dict[str, str], scripts: str = "") -> None:
    """An installed distribution: its files and the metadata that pip would have written."""
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    if scripts:
        (info / "entry_points.txt").write_text(f"[console_scripts]\n{scripts}\n")
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    (info / "RECORD").write_text("".join(f"{path},,\n" for path in files))


def doctor(extra_path: Path, *flags: str) -> tuple[int, str]:
    program = f"import sys; sys.path.append({str(extra_path)!r}); from zeno.cli.start import run; sys.exit(run())"
    command = [sys.executable, "-c", program, "doctor", *flags]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stderr == ""
    return done.returncode, done.stdout


def test_extras_are_those_of_the_project():
    assert {name: set(modules) for name, modules in checks.EXTRAS.items()} == {
        name: required(name) for name in PROJECT["optional-dependencies"] if name in checks.EXTRAS
    }


def test_scripts_that_cannot_clash_are_installed():
    assert {"zeno-mcp", "eval-normalizer", *checks.SCRIPTS} <= PROJECT["scripts"].keys()


def test_a_sound_installation_has_no_problem(tmp_path):
    status, text = doctor(tmp_path)
    assert (status, text.splitlines()[-1]) == (0, "0 problems found")
    assert f"zeno-normalizer {PROJECT['version']}" in text


def test_a_distribution_that_claims_our_package_is_a_problem(tmp_path):
    plant(tmp_path, "zenoml", {"zeno/runner.py": ""}, "zeno = zeno.runner:command_line")
    status, text = doctor(tmp_path, "--format", "json")
    assert status == 1
    told = [(fact["level"], fact["message"]) for fact in json.loads(text)["facts"] if "zenoml" in fact["message"]]
    assert told == [
        (
            "problem",
            "zenoml 1.0 also installs a package zeno; keep zeno-normalizer in an environment of its own: "
            "uv tool install zeno-normalizer",
        ),
        ("note", "zenoml 1.0 also installs a command zeno: the last one installed runs; zeno-mcp is ours alone"),
    ]


def test_a_command_that_another_distribution_has_too_is_a_note(tmp_path):
    plant(tmp_path, "charset-other", {"charset_other/cli.py": ""}, "normalizer = charset_other.cli:main")
    status, text = doctor(tmp_path)
    assert status == 0
    assert "charset-other 1.0 also installs a command normalizer: the last one installed runs; " in text
    assert "eval-normalizer is ours alone" in text


def test_every_package_that_a_plain_install_needs_is_checked():
    needed = {re.split("[>=]", line)[0] for line in PROJECT["dependencies"]}
    told = {fact.message.split()[0]: fact.level for fact in checks.versions() if fact.topic == "needs"}
    assert told == dict.fromkeys(needed, "ok")


def test_confinement_is_reported_as_the_kernel_says():
    """The list of security modules is not always mounted, and has no say in what a process may do."""
    told = {fact.topic: fact.level for fact in checks.system()}
    assert told.get("seccomp", "note") == ("ok" if seccomp.possible() else "note")
    try:
        landlock.version()
    except landlock.NotPossible:
        assert told.get("landlock", "note") == "note"
    else:
        assert told["landlock"] == "ok"
