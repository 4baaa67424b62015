"""Validate the arguments of a request and call the function of its operation."""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

import contract_spec as spec
from contract_models.zeno.request import Request
from contract_spec.model import Model
from contract_spec.operations import args_schema, operations

from zeno.errors import DeadlineExceeded, InvalidArgs, UnknownOp, ZenoError
from zeno.meter import Meter
from zeno.search.corpus import Corpus
from zeno.session.wire import FULLY_CHECKED_CHARACTERS, complaint
from zeno.text import regex

OPS = operations()
"""The operations. The function of each has its name, in `zeno.ops.<name>`."""

OpFunction = Callable[[Any, Corpus, Meter], Model]


@cache
def load(name: str) -> tuple[type[Model], OpFunction]:
    """Return the argument model and the function of an operation. Imported on first use, to keep start-up fast."""
    models = import_module(f"contract_models.zeno.ops.{name}")
    return getattr(models, args_schema(name)["title"]), getattr(import_module(f"zeno.ops.{name}"), name)


def prepare(name: str) -> None:
    """Import an operation and build its models in advance."""
    load(name)
    for model in vars(import_module(f"contract_models.zeno.ops.{name}")).values():
        if isinstance(model, type) and issubclass(model, Model):
            model.model_rebuild()


def perform(request: Request, corpus: Corpus, meter: Meter) -> Model:
    """Validate the arguments against the schema and run the operation.

    Raises UnknownOp, InvalidArgs, or another ZenoError of the operation.
    """
    if request.op not in OPS:
        raise UnknownOp(request.op)
    found = spec.violations(
        f"zeno/ops/{request.op}.json#/$defs/args", request.args, most_characters=FULLY_CHECKED_CHARACTERS
    )
    if found:
        raise InvalidArgs(complaint((_sentence(violation, request.op) for violation in found), request.args))
    model, run = load(request.op)
    args = request.args
    if meter.options.gitignore and "gitignore" in model.model_fields:
        args = {"gitignore": True, **args}
    if "rev" in args:
        corpus = corpus.revisions.at(args["rev"], "args.rev")
    if corpus.tree.rev is not None and "rev" in model.model_fields:
        # Cursors are of this commit, wherever a branch is later.
        args = {**args, "rev": corpus.tree.rev}
    if "changed_since" in args:
        since = corpus.revisions.at(args["changed_since"], "args.changed_since")
        args = {**args, "changed_since": since.tree.rev}
    result = run(model.model_validate(args), corpus, meter)
    if corpus.tree.rev is not None and "rev" in type(result).model_fields:
        return result.model_copy(update={"rev": corpus.tree.rev})
    return result


# A regular expression with a larger program may take RE2 seconds in one call on one file.
_LARGE_PROGRAM = 1000
MAX_PLACES = 200
"""Ranges and citations of one request; more are refused."""
MAX_PATTERNS = 20
"""Patterns of one request; more are refused."""


def is_long(request: Request, corpus: Corpus) -> bool:
    """Whether the operation will probably take long: a walk of the disk, a very large pattern, or a large blob."""
    if request.op not in OPS:
        return False
    given = request.args
    try:
        if isinstance(given.get("rev"), str):
            corpus = corpus.revisions.at(given["rev"], "args.rev")
        if not OPS[request.op].walks:
            return request.op != "stat" and _opens_large(given, corpus)
    except ZenoError:
        return False
    if not corpus.is_warm:
        corpus.warm_up()
        return True
    found = [given.get("pattern"), given.get("patterns")] if given.get("regex") is True else [given.get("regex")]
    patterns = [one for item in found for one in (item if isinstance(item, list) else [item]) if isinstance(one, str)]
    return sum(map(regex.program_size, patterns[:MAX_PATTERNS])) > _LARGE_PROGRAM


def _opens_large(given: dict[str, Any], corpus: Corpus) -> bool:
    """Whether a file that is asked for takes long to open. The arguments are not validated yet."""
    lists = [given.get(name) for name in ("ranges", "citations")]
    places = [given, *(item for some in lists if isinstance(some, list) for item in some[:MAX_PLACES])]
    for place in places:
        if isinstance(place, dict) and isinstance(path := place.get("path", given.get("path")), str):
            rev = place.get("rev")
            where = corpus.revisions.at(rev, "rev") if place is not given and isinstance(rev, str) else corpus
            if where.is_slow_to_open(path):
                return True
    return False


def make_overdue(op: str | None, seconds: int | None) -> DeadlineExceeded:
    """Return the error for a request that took longer than `seconds`, with advice for its operation."""
    narrow = OPS[op].narrow if op in OPS else "ask for less"
    return DeadlineExceeded(f"the request took longer than the limit of {seconds} s; {narrow}")


def _sentence(violation: spec.Violation, op: str) -> str:
    field = spec.dotted("args", violation.pointer)
    known = sorted(args_schema(op)["properties"])
    if violation.keyword == "additionalProperties":
        from difflib import get_close_matches  # only for this message

        near = get_close_matches(field.rpartition(".")[2], known, 1)
        meant = f"did you mean {near[0]}? Its" if near else "its"
        return f"{field} is no argument of {op}; {meant} arguments are {', '.join(known)}"
    if violation.keyword == "minProperties":
        return f"{field} must have {' or '.join(name for name in known if name != 'rev')}"
    return f"{field} {violation.message}"
