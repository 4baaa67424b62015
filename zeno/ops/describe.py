"""describe: versions, operations, schemas and limits of this server."""

import json

import contract_spec as spec
from contract_models.zeno.ops.describe import (
    Confinement,
    DescribeArgs,
    DescribeResult,
    OperationDescription,
    RequestLimits,
    ServerFlags,
    ServerLimits,
    ServerPolicy,
)
from contract_spec.bundle import inlined, published
from contract_spec.operations import operations
from pydantic import MISSING

from zeno.errors import InvalidArgs
from zeno.files.policy import Policy
from zeno.meter import Meter
from zeno.options import Options
from zeno.search.corpus import Corpus

_LIMITS = spec.resource("rules/request_limits.json")
_PREFIX = "zeno/"
_OPS = "zeno/ops/"


def describe(args: DescribeArgs, corpus: Corpus, meter: Meter) -> DescribeResult:
    """Return the versions, the operations and the limits."""
    if args.op is not MISSING and args.op not in operations():
        raise InvalidArgs(f"args.op must be one of {json.dumps(list(operations()))}")
    names = [name for name in spec.names() if name.startswith(_PREFIX)]
    schemas = {name: published(name) for name in names} if args.schemas and args.op is MISSING else {}
    if args.op is not MISSING:
        names = [name for name in names if name == f"{_OPS}{args.op}.json"]
        schemas = {name: inlined(name) for name in names if args.schemas}
    confinement = meter.options.confinement
    return DescribeResult(
        protocol=spec.PROTOCOL_VERSION,
        ops=[
            OperationDescription(
                name=name.removeprefix(_OPS).removesuffix(".json"),
                description=spec.schema(name)["description"],
                schema_name=name,
            )
            for name in names
            if name.startswith(_OPS)
        ],
        limits=describe_limits(meter.options),
        request_limits=RequestLimits(
            max_glob_characters=_LIMITS["max_glob_characters"],
            max_pattern_work=meter.options.max_pattern_work or _LIMITS["max_pattern_work"],
            max_scan_bytes=meter.options.max_scan_bytes or _LIMITS["max_scan_bytes"],
            max_searched_file_bytes=_LIMITS["max_searched_file_bytes"],
            max_symbols_file_bytes=_LIMITS["max_symbols_file_bytes"],
            unmetered_states=_LIMITS["unmetered_states"],
        ),
        flags=ServerFlags(gitignore=meter.options.gitignore, log=meter.options.log),
        roots=corpus.tree.names or MISSING,
        rev=corpus.tree.rev or MISSING,
        revs=corpus.revisions.allow_list or MISSING,
        policy=describe_policy(corpus.tree.policy),
        confinement=Confinement(files=confinement.files, network=confinement.network),
        model_defaults={
            op: operation.tool["defaults"] for op, operation in operations().items() if args.op in (MISSING, op)
        },
        schemas=schemas or MISSING,
        metrics=meter.stop(),
    )


def describe_limits(options: Options) -> ServerLimits:
    """Return the limits of a session that are set."""
    limits = {name: getattr(options, name) for name in ServerLimits.model_fields}
    return ServerLimits.model_validate({name: limit for name, limit in limits.items() if limit is not None})


def describe_policy(policy: Policy) -> ServerPolicy | MISSING:
    """Return what a policy denies; MISSING if it denies nothing."""
    if not policy.active:
        return MISSING
    return ServerPolicy(
        deny=policy.deny,
        only=policy.only,
        lists=policy.lists,
        ignored=policy.ignored,
        within=MISSING if policy.within is None else policy.within,
    )
