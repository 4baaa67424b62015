"""A study file, normalizer.toml, and the analysis in it: what is asked of the records, whatever they will say.

The analysis is every step that makes numbers, without the names of files and without how results are printed. Its
digest can be stated before the data arrive, as `frozen` in the file itself and wherever others will find it.
"""

import hashlib
import json
import tomllib
from pathlib import Path
from typing import Any

import contract_spec as spec

from normalizer.errors import CannotRun
from normalizer.regular_files import regular_bytes

RULES: dict[str, list[str]] = spec.resource("rules/frozen_analysis.json")
_SAME = ("baseline", "by", "cluster", "diagnostic", "interval", "judge_kind", "mix", "recipe", "unit", "where")
"""The options of `check` that decide about numbers; those of `aggregate` and `preferences` have the same names."""


def read_study(path: Path) -> dict[str, Any]:
    """Return the document of a study file. Raises CannotRun."""
    try:
        document = tomllib.loads(regular_bytes(path).decode())
    except FileNotFoundError:
        raise CannotRun(f"there is no study file {path}: `normalizer docs report` has one to copy") from None
    except OSError as error:
        raise CannotRun(f"cannot read {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CannotRun(f"{path} is not TOML: {error}") from None
    try:
        violations = spec.violations("eval/study.json", document)
    except (TypeError, ValueError):
        raise CannotRun(f"{path} has a value that is neither text, a number, a boolean nor a list of text") from None
    for violation in violations:
        raise CannotRun(f"{path}: {violation.pointer or 'the file'} {violation.message}")
    return document


def analysis_of(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the steps of the analysis, each with its own options and the defaults of the file."""
    defaults = document.get("defaults", {})
    return [
        {name: value for name, value in ({**defaults, **step}).items() if name not in RULES["presentation"]}
        for step in document["step"]
        if step["run"] in RULES["analyses"]
    ]


def digest_analysis(document: dict[str, Any]) -> str:
    """Return the SHA-256 of the analysis, as JSON without spaces and with sorted names."""
    text = json.dumps(analysis_of(document), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def compare_analysis(document: dict[str, Any], asked: dict[str, Any]) -> dict[str, Any]:
    """Return whether the options of a table are those of a frozen step: a member of `check_report.json`.

    `asked` are the options of `check`, those that were given. The step named is the nearest one.
    """
    found = digest_analysis(document)
    report: dict[str, Any] = {"sha256": document.get("frozen"), "found": found, "step": None, "differs": []}
    wanted = {name: _normalize(name, asked.get(name)) for name in _SAME}
    best: list[str] | None = None
    for number, step in enumerate(document["step"], start=1):
        if step["run"] not in ("aggregate", "check", "preferences"):
            continue
        options = {**document.get("defaults", {}), **step}
        differs = [name for name in _SAME if _normalize(name, options.get(name)) != wanted[name]]
        if best is None or len(differs) < len(best):
            best = differs
            report |= {"step": number, "differs": differs}
    return {**report, "agrees": report["sha256"] == found and best == []}


def _normalize(name: str, value: Any) -> Any:
    """Return an option so that different spellings of it are equal: an absent one is its default."""
    if name == "diagnostic":
        return bool(value)
    if value is None or value == "":
        return {"unit": "artifact", "interval": "gaffke", "judge_kind": ["model"]}.get(name, [])
    if name in ("baseline", "cluster", "interval", "recipe", "unit"):
        return str(value)
    values = [str(each) for each in value] if isinstance(value, (list, tuple)) else [str(value)]
    if name == "by":
        return [key.strip() for each in values for key in each.split(",") if key.strip()]
    return sorted(values) or (["model"] if name == "judge_kind" else [])
