"""Make `generated/` from `spec/schemas/`, or with --check tell whether it is what would be made.

The generator's options live in pyproject.toml. The check compares whole folders as they are on disk, whatever git
ignores or does not track: an edited, a missing and an orphan file are drift, and so is a link, even to equal files, and
a compiled module that Python would run though the source does not make it.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tools.compiled import unproven
from tools.methods import methods

ROOT = Path(__file__).resolve().parent.parent
BANNER = "# Made from spec/schemas by `nox -s generate`. Do not edit: change the schema and make it anew.\n"

RAW = (
    "eval/attestation.json",
    "eval/audit_item.json",
    "eval/build_results.json",
    "eval/bundle_header.json",
    "eval/bundle_limits.json",
    "eval/claims.json",
    "eval/dialect.json",
    "eval/dialect_list.json",
    "eval/evidence_report.json",
    "eval/explanation.json",
    "eval/joined_file.json",
    "eval/judge_call.json",
    "eval/judge_input.json",
    "eval/judge_reply.json",
    "eval/judge_run.json",
    "eval/judging_rules.json",
    "eval/ledger_commit.json",
    "eval/lint_report.json",
    "eval/phase_rules.json",
    "eval/proposal.json",
    "eval/rubric.json",
    "eval/run_manifest.json",
    "eval/run_metadata.json",
    "eval/study.json",
    "zeno/batch.json",
    "zeno/claim.json",
    "zeno/deny_list.json",
    "zeno/language.json",
    "zeno/mcp_rules.json",
    "zeno/operation.json",
)
"""Schemas whose documents are read, checked and written as they are spelled: no code carries them in a model."""


def generate(schemas: Path, out: Path) -> None:
    """Write the models of a folder of schemas into `out`, which must not exist."""
    codegen = Path(sys.executable).with_name("datamodel-codegen")
    command = [str(codegen), "--input", str(schemas), "--output", str(out)]
    subprocess.run(command, cwd=ROOT, check=True)
    for name in RAW:
        (out / name).with_suffix(".py").unlink(missing_ok=True)
    _generate_client(codegen, schemas / "zeno", out / "client")
    (out / "__init__.py").write_text(BANNER, encoding="utf-8")
    for module in out.rglob("*.py"):
        text = module.read_text(encoding="utf-8")
        module.write_text(text if text.startswith(BANNER) else BANNER + text, encoding="utf-8")
    (out / "py.typed").touch()


def _generate_client(codegen: Path, schemas: Path, out: Path) -> None:
    """Write the methods of the Python clients, and results in which None stands for what is absent."""
    with tempfile.TemporaryDirectory() as scratch:
        results = shutil.copytree(schemas, Path(scratch) / "zeno")
        for path in (results / "ops").glob("*.json"):
            path.write_text(json.dumps(_result_of(json.loads(path.read_text(encoding="utf-8")))), encoding="utf-8")
        command = [str(codegen), "--profile", "client", "--input", str(results), "--output", str(out)]
        subprocess.run(command, cwd=ROOT, check=True)
    (out / "methods.py").write_text(methods(schemas / "ops"), encoding="utf-8")
    used = "".join(module.read_text(encoding="utf-8") for module in (out / "ops").glob("*.py"))
    for module in out.glob("*.py"):
        if module.stem not in ("__init__", "methods") and not re.search(rf"\bimport {module.stem}\b", used):
            module.unlink()


def _result_of(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an operation's result alone: clients give arguments by name, without a model."""
    definitions, needed, todo = schema["$defs"], set[str](), ["result"]
    while todo:
        name = todo.pop()
        needed.add(name)
        todo += set(re.findall(r'"#/\$defs/(\w+)"', json.dumps(definitions[name]))) - needed
    inner = {name: node for name, node in definitions.items() if name in needed and name != "result"}
    return {"$schema": schema["$schema"], "$id": schema["$id"], **definitions["result"], "$defs": inner}


def drift(expected: Path, actual: Path) -> list[str]:
    """How two folders differ, a line a file."""
    if actual.is_symlink():
        return ["link:    ."]
    wanted, found = _contents(expected), _contents(actual)
    links = [path for path in sorted(actual.rglob("*")) if path.is_symlink()]
    return (
        [f"missing: {name}" for name in sorted(wanted.keys() - found.keys())]
        + [f"orphan:  {name}" for name in sorted(found.keys() - wanted.keys())]
        + [f"edited:  {name}" for name in sorted(wanted.keys() & found.keys()) if wanted[name] != found[name]]
        + [f"special: {path.relative_to(actual).as_posix()}" for path in _special(actual)]
        + [f"link:    {path.relative_to(actual).as_posix()}" for path in links]
        + [f"planted: {path.relative_to(actual).as_posix()}" for path in unproven(actual)]
    )


def _contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not (path.parent.name == "__pycache__" and path.suffix == ".pyc")
    }


def _special(folder: Path) -> list[Path]:
    """Return what is no file, folder or link: Python would wait for a FIFO that has the name of a module."""
    return [path for path in sorted(folder.rglob("*")) if not (path.is_file() or path.is_dir() or path.is_symlink())]


def main(argv: list[str] | None = None) -> int:
    """Remake the folder, or check it: 0 in step, 1 drifted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare instead of writing; exit 1 on drift")
    parser.add_argument("--schemas", type=Path, default=ROOT / "spec" / "schemas", help="folder of schemas")
    parser.add_argument("--out", type=Path, default=ROOT / "generated", help="folder of models")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as scratch:
        fresh = Path(scratch) / "generated"
        generate(options.schemas, fresh)
        if options.check:
            differences = drift(fresh, options.out)
            for line in differences:
                print(line)
            if differences:
                print(f"{options.out.name}/ is not what spec/schemas makes: run `nox -s generate`, which makes it anew")
            return 1 if differences else 0
        if options.out.is_symlink():
            options.out.unlink()
        elif options.out.exists():
            shutil.rmtree(options.out)
        shutil.copytree(fresh, options.out)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
