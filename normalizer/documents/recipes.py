"""Recipes of other boards: what they are called, where they come from, and the files that they need besides a ledger.

A file of a recipe is a table (.csv), a list (.json) or lines (.jsonl) of objects. Its digest is told with the score.
"""

import csv
import hashlib
import io
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import contract_spec as spec

from normalizer.errors import CannotRun
from normalizer.regular_files import regular_bytes

RECIPES: dict[str, dict[str, Any]] = spec.resource("rules/recipes.json")

RecipeRow = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Recipe:
    """A named recipe, with the rows of its files."""

    name: str
    rows: tuple[RecipeRow, ...] = ()
    files: tuple[dict[str, str], ...] = field(default=())
    """Name and digest of each file."""

    def describe(self) -> dict[str, Any]:
        """Return what a document says about the recipe."""
        told = {key: RECIPES[self.name][key] for key in ("formula", "source", "lacks")}
        return {"name": self.name, **told, "files": list(self.files)}


def recipes_of(kind: str) -> list[str]:
    """Return the names of the recipes for `comparisons` or `scores`."""
    return [name for name in sorted(RECIPES) if kind in RECIPES[name]["of"]]


def read_recipe(name: str | None, paths: tuple[Path, ...]) -> Recipe | None:
    """Return the recipe with its files. Raises CannotRun where files are missing, or given without need."""
    if name is None:
        if paths:
            raise CannotRun("--recipe-file goes with --recipe: name the recipe, or leave the file out")
        return None
    need = RECIPES[name]["files"]
    if need == "none" and paths:
        raise CannotRun(f"--recipe {name} needs no file: leave --recipe-file out")
    if need == "needed" and not paths:
        raise CannotRun(f"--recipe {name} needs --recipe-file: the page preferences says which file it is")
    rows: list[RecipeRow] = []
    files = []
    for path in paths:
        try:
            data = regular_bytes(path)
        except OSError as problem:
            raise CannotRun(f"{path} cannot be read: {problem.strerror}") from None
        rows += _read_rows(path, data)
        files.append({"name": path.name, "sha256": hashlib.sha256(data).hexdigest()})
    return Recipe(name, tuple(rows), tuple(files))


def _read_rows(path: Path, data: bytes) -> list[RecipeRow]:
    try:
        text = data.decode("utf-8-sig")
        if path.suffix == ".csv":
            return list(csv.DictReader(io.StringIO(text, newline="")))
        found = (
            json.loads(text)
            if path.suffix == ".json"
            else [json.loads(line) for line in text.split("\n") if line.strip()]
        )
    except (ValueError, csv.Error):
        found = None
    if not isinstance(found, list) or not all(isinstance(row, dict) for row in found):
        raise CannotRun(f"{path} has no rows: give a .csv table, a .json list of objects or .jsonl lines of objects")
    return found
