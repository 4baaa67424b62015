"""describe: versions, operations, schemas and limits of this server."""

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
from contract_spec.bundle import inlined
from pydantic import MISSING

from zeno.files.policy import Policy
from zeno.meter import Meter
from zeno.search.corpus import Corpus

_LIMITS = spec.resource("rules/request_limits.json")
_PREFIX = "zeno/"
_OPS = "zeno/ops/"


def describe(args: DescribeArgs, corpus: Corpus, meter: Meter) -> DescribeResult:
    """Return the versions, the operations and the limits."""
    names = [name for name in spec.names() if name.startswith(_PREFIX)]
    schemas = {name: spec.schema(name) for name in names} if args.schemas and args.op is MISSING else {}
    if args.op is not MISSING:
        names = [name for name in names if name == f"{_OPS}{args.op}.json"]
        schemas = {name: inlined(name) for name in names if args.schemas}
    options = meter.options._asdict()
    confinement = options.pop("confinement")
    options.pop("max_scan_bytes")
    flags = {name: options.pop(name) for name in ("gitignore", "log")}
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
        limits=ServerLimits.model_validate({name: limit for name, limit in options.items() if limit is not None}),
        request_limits=RequestLimits(
            max_glob_characters=_LIMITS["max_glob_characters"],
            max_pattern_work=meter.options.max_pattern_work or _LIMITS["max_pattern_work"],
            max_scan_bytes=meter.options.max_scan_bytes or _LIMITS["max_scan_bytes"],
            max_searched_file_bytes=_LIMITS["max_searched_file_bytes"],
            max_symbols_file_bytes=_LIMITS["max_symbols_file_bytes"],
            unmetered_states=_LIMITS["unmetered_states"],
        ),
        flags=ServerFlags.model_validate(flags),
        roots=corpus.tree.names or MISSING,
        policy=_policy(corpus.tree.policy),
        confinement=Confinement(files=confinement.files, network=confinement.network),
        model_defaults={
            op: tool["defaults"]
            for op, tool in sorted(spec.resource("rules/mcp.json")["tools"].items())
            if args.op in (MISSING, op)
        },
        schemas=schemas or MISSING,
        metrics=meter.stop(),
    )


def _policy(policy: Policy) -> ServerPolicy | MISSING:
    if not policy.active:
        return MISSING
    return ServerPolicy(
        deny=policy.deny,
        only=policy.only,
        lists=policy.lists,
        ignored=policy.ignored,
        within=MISSING if policy.within is None else policy.within,
    )
