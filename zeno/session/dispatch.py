"""Validate the arguments of a request and call the function of its operation."""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

import contract_spec as spec
from contract_models.zeno.request import Request
from contract_spec.model import Model

from zeno.errors import DeadlineExceeded, InvalidArgs, UnknownOp
from zeno.meter import Meter
from zeno.search.corpus import Corpus
from zeno.session.wire import PATIENCE, complaint
from zeno.text import regex


class Op(NamedTuple):
    """An operation. Its function has the same name as the operation, in `zeno.ops.<name>`."""

    args: str
    """Name of the model of its arguments."""
    narrow: str
    """Advice for an answer that is too large or takes too long."""
    walks: bool = False
    """Whether it may go through the whole tree. Others overtake it, and on a cold corpus it runs in a forked copy."""


OPS: dict[str, Op] = {
    "describe": Op("DescribeArgs", "leave the schemas out with schemas false"),
    "extract_symbols": Op("ExtractSymbolsArgs", "lower max_symbols"),
    "grep": Op("GrepArgs", "lower max_hits, context or max_chars, narrow paths, or use a rarer pattern", walks=True),
    "list_files": Op("ListFilesArgs", "lower max, or narrow glob", walks=True),
    "peek": Op("PeekArgs", "lower head_lines or tail_lines"),
    "read_file": Op("ReadFileArgs", "ask for fewer lines with end_line or max_lines"),
    "stat": Op("StatArgs", "ask for fewer paths"),
    "verify": Op("VerifyArgs", "give fewer citations"),
}

OpFunction = Callable[[Any, Corpus, Meter], Model]


@cache
def loaded(name: str) -> tuple[type[Model], OpFunction]:
    """Return the argument model and the function of an operation. Imported on first use, to keep start-up fast."""
    models = import_module(f"contract_models.zeno.ops.{name}")
    return getattr(models, OPS[name].args), getattr(import_module(f"zeno.ops.{name}"), name)


def prepare(name: str) -> None:
    """Import an operation and build its models in advance."""
    loaded(name)
    for model in vars(import_module(f"contract_models.zeno.ops.{name}")).values():
        if isinstance(model, type) and issubclass(model, Model):
            model.model_rebuild()


def perform(request: Request, corpus: Corpus, meter: Meter) -> Model:
    """Validate the arguments against the schema and run the operation.

    Raises UnknownOp, InvalidArgs, or another ZenoError of the operation.
    """
    if request.op not in OPS:
        raise UnknownOp(request.op)
    found = spec.violations(f"zeno/ops/{request.op}.json#/$defs/args", request.args, patience=PATIENCE)
    if found:
        raise InvalidArgs(complaint((_sentence(violation, request.op) for violation in found), request.args))
    model, run = loaded(request.op)
    args = request.args
    if meter.options.gitignore and "gitignore" in model.model_fields:
        args = {"gitignore": True, **args}
    return run(model.model_validate(args), corpus, meter)


# A regular expression with a larger program may take RE2 seconds in one call on one file.
_LARGE_PROGRAM = 1000


def is_long(request: Request, corpus: Corpus) -> bool:
    """Whether the operation will probably take long: a walk of the disk, or a very large pattern."""
    if request.op not in OPS or not OPS[request.op].walks:
        return False
    if not corpus.warm:
        return True
    pattern = request.args.get("pattern") if request.args.get("regex") is True else request.args.get("regex")
    return isinstance(pattern, str) and regex.program_size(pattern) > _LARGE_PROGRAM


def overdue(op: str | None, seconds: int | None) -> DeadlineExceeded:
    """Return the error for a request that took longer than `seconds`, with advice for its operation."""
    narrow = OPS[op].narrow if op in OPS else "ask for less"
    return DeadlineExceeded(f"the request took longer than the limit of {seconds} s; {narrow}")


def _sentence(violation: spec.Violation, op: str) -> str:
    field = spec.dotted("args", violation.pointer)
    known = sorted(spec.schema(f"zeno/ops/{op}.json")["$defs"]["args"]["properties"])
    if violation.keyword == "additionalProperties":
        return f"{field} is no argument of {op}; its arguments are {', '.join(known)}"
    if violation.keyword == "minProperties":
        return f"{field} must have {' or '.join(known)}"
    return f"{field} {violation.message}"
