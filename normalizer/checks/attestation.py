"""Statements that a table follows from records, in the form of in-toto, made and made again."""

import hashlib
import json
from pathlib import Path
from typing import Any, NamedTuple

import contract_spec as spec

from normalizer.aggregate.eligibility import Rules
from normalizer.aggregate.intervals import Method
from normalizer.aggregate.recipes import read_recipe
from normalizer.aggregate.summary import Options
from normalizer.checks.instruments import instruments
from normalizer.checks.published_tables.compare import check, follows
from normalizer.checks.published_tables.figures import ALL_PAIRS, Pairing
from normalizer.documents import protocol
from normalizer.errors import CannotRun
from normalizer.ledger.line_format import sha_slice
from normalizer.ledger.reader import reading
from normalizer.regular_files import regular_bytes

_TYPE = "https://in-toto.io/Statement/v1"
_PREDICATE = "https://specs.example/v1/eval/attestation"
_CELL = ("line", "column", "key", "statistic", "published", "verdict")


class Question(NamedTuple):
    """The ledgers that a table is compared with, and the options."""

    folders: tuple[Path, ...]
    options: Options
    columns: dict[str, str]
    pairing: Pairing = ALL_PAIRS

    def report(self, table: Path) -> dict[str, Any]:
        """Compare a table."""
        return check(table, self.folders, self.options, self.columns, self.pairing)


def statement(table: Path, asked: Question, report: dict[str, Any]) -> bytes:
    """Return the statement about a table whose report is given, as text that is the same wherever it is made."""
    options, recipe = asked.options, asked.pairing.recipe
    digest = hashlib.sha256(regular_bytes(table)).hexdigest()
    made = {
        "_type": _TYPE,
        "subject": [{"name": table.name, "digest": {"sha256": digest}}],
        "predicateType": _PREDICATE,
        "predicate": {
            "follows": follows(report),
            "cells": [{name: cell[name] for name in _CELL} for cell in report["cells"]],
            "records": _records(asked.folders),
            "instruments": instruments(asked.folders),
            "options": {
                "by": list(options.by),
                "where": dict(options.where),
                "unit": options.unit,
                "interval": "t" if options.interval.student else "gaffke",
                "cluster": options.interval.cluster,
                "columns": asked.columns,
                "diagnostic": options.rules.diagnostic,
                "mix": sorted(options.rules.mix),
                "judge_kinds": sorted(options.rules.judge_kinds),
                "baseline": asked.pairing.baseline,
            },
            "recipe": None if recipe is None else {"name": recipe.name, "files": list(recipe.files)},
            "protocol": protocol.version(),
        },
    }
    return json.dumps(made, indent=2, sort_keys=True).encode() + b"\n"


def differences(path: Path, table: Path, folders: tuple[Path, ...], recipe_files: tuple[Path, ...] = ()) -> list[str]:
    """Make a statement again from a table and ledgers; return what is not as it states. Raises CannotRun."""
    try:
        data = regular_bytes(path)
        value = spec.parse(data, max_depth=64)
    except (OSError, spec.NotStrictJson) as error:
        raise CannotRun(f"cannot read the statement {path}: {error}") from None
    for violation in spec.violations("eval/attestation.json", value):
        raise CannotRun(f"{path} is no statement about a table: {violation.pointer} {violation.message}")
    told = value["predicate"]["options"]
    options = Options(
        by=tuple(told["by"]),
        where=dict(told["where"]),
        unit=told["unit"],
        rules=Rules(told["diagnostic"], frozenset(told["mix"]), frozenset(told["judge_kinds"])),
        interval=Method(cluster=told["cluster"], student=told["interval"] == "t"),
    )
    recipe = value["predicate"]["recipe"]
    pairing = Pairing(told["baseline"], read_recipe(recipe and recipe["name"], recipe_files))
    asked = Question(folders, options, told["columns"], pairing)
    again = json.loads(statement(table, asked, asked.report(table)))
    return _different(value, again, "")


def _different(stated: Any, found: Any, at: str) -> list[str]:
    """Return a sentence for each place at which two values differ."""
    if isinstance(stated, dict) and isinstance(found, dict):
        return [line for key in sorted({*stated, *found}) for line in _inner(stated, found, key, at)]
    if isinstance(stated, list) and isinstance(found, list) and len(stated) == len(found):
        pairs = zip(stated, found, strict=True)
        return [line for number, (one, other) in enumerate(pairs) for line in _different(one, other, f"{at}/{number}")]
    if stated == found and type(stated) is type(found):
        return []
    return [f"{at}: stated {_short(stated)}, found {_short(found)}"]


def _inner(stated: dict[str, Any], found: dict[str, Any], key: str, at: str) -> list[str]:
    return _different(stated.get(key), found.get(key), f"{at}/{key}")


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 100 else f"{text[:100]}..."


def _records(folders: tuple[Path, ...]) -> dict[str, Any]:
    """Return counts and digests of the records of ledgers. A bundle that two ledgers have counts once."""
    ids: list[str] = []
    invalid = 0
    bundles: set[str] = set()
    for folder in folders:
        with reading(folder) as ledger:
            here = {header["bundle_sha256"] for header in ledger.items("headers")} - bundles
            for kind in ("records", "invalid"):
                for line in ledger.iterate_checked_lines(kind):
                    if line[sha_slice(kind)].decode("ascii") in here:
                        invalid += kind == "invalid"
                        ids += [json.loads(line)["record_id"]] if kind == "records" else []
            bundles |= here
    return {
        "valid": len(ids),
        "invalid": invalid,
        "sha256": hashlib.sha256("".join(f"{each}\n" for each in sorted(ids)).encode()).hexdigest(),
        "bundles_sha256": hashlib.sha256("".join(f"{each}\n" for each in sorted(bundles)).encode()).hexdigest(),
    }
