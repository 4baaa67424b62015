"""The contract: schemas and rules as data, and what checks a document against them.

`parse` turns bytes into a value if they are strict JSON; `violations` tells what a schema holds against a value.
Installed, this folder is the package `contract_spec`; the models made from it are `contract_models`.
"""

import json
import os
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from contract_spec.strict import NotStrictJson, parse

if TYPE_CHECKING:
    # Imported where it is used: processes that only read rules need not wait for it.
    import jsonschema_rs

__all__ = [
    "BASE",
    "PROTOCOL_VERSION",
    "NotStrictJson",
    "Violation",
    "dotted",
    "names",
    "parse",
    "resource",
    "schema",
    "violations",
]

# Not by way of importlib.resources: it takes longer to import than all that is read here.
_FOLDER = os.path.dirname(__file__)

BASE = "https://specs.example/v1/"
"""Every schema's `$id` is this, followed by its path under `schemas/`."""


class Violation(NamedTuple):
    """One thing that a schema holds against a value."""

    pointer: str
    """Where, as a JSON pointer into the value."""
    keyword: str
    """The schema keyword that is violated."""
    message: str
    """What would be right, in words that make sense after the name of the field."""


def resource(path: str) -> Any:
    """A JSON file of this folder, parsed: `resource("rules/phases.json")`."""
    with open(os.path.join(_FOLDER, *path.split("/")), "rb") as file:
        return json.load(file)


PROTOCOL_VERSION: str = resource("version.json")["protocol"]
"""The version of the Zeno protocol, declared once in `version.json`."""


def names() -> list[str]:
    """The names of all schemas, such as `zeno/ops/grep.json`, sorted."""
    top = os.path.join(_FOLDER, "schemas")
    return sorted(
        os.path.relpath(os.path.join(folder, file), top).replace(os.sep, "/")
        for folder, _, files in os.walk(top)
        for file in files
        if file.endswith(".json")
    )


@cache
def schema(name: str) -> Any:
    """The schema of that name, such as `zeno/ops/grep.json`."""
    return resource(f"schemas/{name}")


def violations(ref: str, value: Any, *, most_characters: int | None = None) -> list[Violation]:
    """What the schema at `ref` (a name, with a `#/$defs/...` fragment if wanted) holds against a value.

    With `most_characters`, only the first thing if the value is longer: to find and keep a hundred thousand of them
    takes seconds and half a gigabyte, and whoever sent them would get no use out of it.
    """
    validator = _validator(ref)
    if validator.is_valid(value):
        return []
    value = _shallow(value, _DEPTH)
    if most_characters is not None and len(repr(value)) > most_characters:
        import jsonschema_rs

        try:
            validator.validate(value)
        except jsonschema_rs.ValidationError as error:
            return _explain(error)
    return [found for error in validator.iter_errors(value) for found in _explain(error)]


_DEPTH = 200
"""Beyond 255 levels the validator tells of no mistake but raises an error. No schema of ours looks so far down."""


def _shallow(value: Any, depth: int) -> Any:
    """The value with nothing in its lists and objects below that depth."""
    if isinstance(value, dict):
        return {key: _shallow(inner, depth - 1) for key, inner in value.items()} if depth else {}
    if isinstance(value, list):
        return [_shallow(inner, depth - 1) for inner in value] if depth else []
    return value


@cache
def _validator(ref: str) -> "jsonschema_rs.Validator":
    import jsonschema_rs

    interrupts: list[KeyboardInterrupt] = []

    def retrieve(uri: str) -> Any:
        try:
            # Not kept: the validator keeps what it needs of it.
            return resource(f"schemas/{uri.removeprefix(BASE).partition('#')[0]}")
        except KeyboardInterrupt as interrupt:
            interrupts.append(interrupt)
            raise

    try:
        return jsonschema_rs.Draft202012Validator({"$ref": BASE + ref}, retriever=retrieve)
    except jsonschema_rs.ValidationError:
        # The library takes whatever happened meanwhile for a schema that is not there.
        for interrupt in interrupts:
            raise interrupt from None
        raise


def _explain(error: "jsonschema_rs.ValidationError") -> list[Violation]:
    pointer = "".join(f"/{_escape(str(step))}" for step in error.instance_path)
    keyword, value = error.kind.name, error.kind.value
    if keyword == "additionalProperties":
        return [Violation(f"{pointer}/{_escape(name)}", keyword, "is not known here") for name in value]
    if keyword == "required":
        return [Violation(f"{pointer}/{_escape(value)}", keyword, "is missing")]
    branches = getattr(error.kind, "context", None) if keyword == "oneOf" else None  # it is not in the stubs
    if branches:
        return _alternatives(branches) or [Violation(pointer, keyword, "is of none of the kinds that are allowed here")]
    return [Violation(pointer, keyword, _demand(keyword, value, error))]


def _alternatives(branches: "list[list[jsonschema_rs.ValidationError]]") -> list[Violation]:
    """What is wrong where none of several schemas accepts a value. Ours are told apart by a constant, like `kind`."""
    meant = [branch for branch in branches if all(error.kind.name != "const" for error in branch)]
    if len(meant) == 1:
        return [found for error in meant[0] for found in _explain(error)]
    said = [[found for error in branch for found in _explain(error)] for branch in meant or branches]
    common = [found for found in said[0] if all(found in each for each in said)]
    if meant or common:
        return common
    constants = [error for branch in branches for error in branch if error.kind.name == "const"]
    [(pointer, _, _)] = _explain(constants[0])
    return [Violation(pointer, "enum", f"must be one of {json.dumps([error.kind.value for error in constants])}")]


_POINTER = "^(/([^~/]|~[01])*)"
"""How the patterns of all JSON pointers begin."""
_IDENTIFIER = r"^[0-9A-Za-z_]+$(?!\n)"
"""The pattern of a name in a program."""


def _demand(keyword: str, value: Any, error: "jsonschema_rs.ValidationError") -> str:
    """What a keyword asks for, in words."""
    match keyword:
        case "type":
            return f"must be {' or '.join(_article(name) for name in value)}, not {_article(_type_of(error.instance))}"
        case "minimum":
            return f"must be at least {value}"
        case "maximum":
            return f"must be at most {value}"
        case "minLength" | "minItems" | "minProperties" if value == 1:
            return "must not be empty"
        case "minItems":
            return f"must have at least {value} items"
        case "maxItems":
            return f"must have at most {value} items"
        case "pattern" if value.startswith(_POINTER):
            return "must be a JSON pointer, such as /scores/overall"
        case "pattern" if value == _IDENTIFIER:
            return "must be one identifier, of A-Z, a-z, 0-9 and _; grep finds other texts"
        case "pattern":
            return f"must match {value}"
        case "enum":
            return f"must be one of {json.dumps(value)}"
        case "const":
            return f"must be {json.dumps(value)}"
    return str(error.message)


def _type_of(value: Any) -> str:
    kinds = {bool: "boolean", str: "string", dict: "object", list: "array", type(None): "null"}
    return kinds.get(type(value), "number")


def _article(name: str) -> str:
    if name == "null":
        return name
    return f"{'an' if name[0] in 'aio' else 'a'} {name}"


def dotted(field: str, pointer: str) -> str:
    """A JSON pointer the way people write it: `args.paths[0]`."""
    for step in pointer.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if name.isdecimal():
            field += f"[{name}]"
        else:
            field += f".{name}" if field else name
    return field


def _escape(step: str) -> str:
    return step.replace("~", "~0").replace("/", "~1")
