"""The dialects that come with the program, as data under `spec/rules/dialects/`."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import contract_spec as spec

from normalizer.documents.lossless import dumps
from normalizer.documents.settings import parse_document
from normalizer.errors import CannotRun, did_you_mean
from normalizer.regular_files import document_bytes

_KINDS = ("json", "jsonl", "csv")
_FOLDER = Path(spec.__file__).parent / "rules" / "dialects"


@cache
def names() -> tuple[str, ...]:
    """The names of the dialects, sorted."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.json")))


def text(name: str) -> str:
    """The document of that name, as it is to be copied."""
    if name not in names():
        raise CannotRun(f"no dialect is called {name}, and no file has that name: {did_you_mean(name, names())}")
    return (_FOLDER / f"{name}.json").read_text(encoding="utf-8")


def dialect_named(name: str) -> dict[str, Any]:
    """The dialect of that name."""
    value: dict[str, Any] = json.loads(text(name))
    return value


def read_dialect(name_or_file: str) -> bytes:
    """The bytes of a dialect: of the file with that path, else of the shipped dialect of that name."""
    path = Path(name_or_file)
    return document_bytes(path) if path.is_file() else text(name_or_file).encode()


def in_container(document: bytes, container: str) -> bytes:
    """A dialect whose files hold their rows in another way: `jsonl`, `csv`, `json` or `json:POINTER`.

    `json:` with an empty pointer is a document that is one row.

    Raises CannotRun for anything else, and for a dialect that reads no rows.
    """
    kind, colon, rows = container.partition(":")
    if kind not in _KINDS or (colon and kind != "json"):
        raise CannotRun(f"--container must be jsonl, csv, json or json:POINTER, such as json:/data/*, not {container}")
    dialect = parse_document("dialect", document)
    if "container" not in dialect:
        raise CannotRun("--container is for dialects that read rows, and this one moves members of a judge bundle")
    dialect["container"] = [{"kind": kind, **({"rows": rows} if colon else {})}]
    return dumps(dialect).encode()
