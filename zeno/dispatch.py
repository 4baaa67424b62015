"""From an envelope to a result: which function answers which operation, and whether the arguments are any good."""

from collections.abc import Callable
from typing import Any, NamedTuple

import contract_spec as spec
from contract_models.zeno.ops.describe import DescribeArgs
from contract_models.zeno.ops.extract_symbols import ExtractSymbolsArgs
from contract_models.zeno.ops.grep import GrepArgs
from contract_models.zeno.ops.list_files import ListFilesArgs
from contract_models.zeno.ops.peek import PeekArgs
from contract_models.zeno.ops.read_file import ReadFileArgs
from contract_models.zeno.ops.stat import StatArgs
from contract_models.zeno.ops.verify import VerifyArgs
from contract_models.zeno.request import Request
from contract_spec.model import Model

from zeno.errors import InvalidArgs, UnknownOp
from zeno.meter import Meter
from zeno.ops.describe import describe
from zeno.ops.extract_symbols import extract_symbols
from zeno.ops.grep import grep
from zeno.ops.list_files import list_files
from zeno.ops.peek import peek
from zeno.ops.read_file import read_file
from zeno.ops.stat import stat
from zeno.ops.verify import verify
from zeno.search.corpus import Corpus
from zeno.wire import PATIENCE


class Op(NamedTuple):
    """An operation: its arguments, the function that answers, and how to ask for less."""

    args: type[Model]
    run: Callable[[Any, Corpus, Meter], Model]
    narrow: str


OPS: dict[str, Op] = {
    "describe": Op(DescribeArgs, describe, "leave the schemas out with schemas false"),
    "extract_symbols": Op(ExtractSymbolsArgs, extract_symbols, "lower max_symbols"),
    "grep": Op(GrepArgs, grep, "lower max_hits, context or max_chars, narrow paths, or use a rarer pattern"),
    "list_files": Op(ListFilesArgs, list_files, "lower max, or narrow glob"),
    "peek": Op(PeekArgs, peek, "lower head_lines or tail_lines"),
    "read_file": Op(ReadFileArgs, read_file, "ask for fewer lines with end_line or max_lines"),
    "stat": Op(StatArgs, stat, "ask for fewer paths"),
    "verify": Op(VerifyArgs, verify, "give fewer citations"),
}


def perform(request: Request, corpus: Corpus, meter: Meter) -> Model:
    """Run one operation: the schema judges the arguments, the model carries them to the function."""
    op = OPS.get(request.op)
    if op is None:
        raise UnknownOp(request.op)
    found = spec.violations(f"zeno/ops/{request.op}.json#/$defs/args", request.args, patience=PATIENCE)
    if found:
        raise InvalidArgs("; ".join(sorted({_sentence(violation, request.op) for violation in found})))
    args = request.args
    if meter.terms.gitignore and "gitignore" in op.args.model_fields:
        args = {"gitignore": True, **args}
    return op.run(op.args.model_validate(args), corpus, meter)


def _sentence(violation: spec.Violation, op: str) -> str:
    field = spec.dotted("args", violation.pointer)
    if violation.keyword == "additionalProperties":
        known = sorted(spec.schema(f"zeno/ops/{op}.json")["$defs"]["args"]["properties"])
        return f"{field} is no argument of {op}; its arguments are {', '.join(known)}"
    return f"{field} {violation.message}"
