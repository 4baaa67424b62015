"""The command line: flags become objects, objects go into one library call, and the exit status comes out.

0: fine; 1: it ran and the answer is an error; 2: it could not run.
"""

import argparse
import gc
import json
import logging
import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any, NoReturn

import contract_spec as spec

EPILOG = "Documentation of the protocol: docs/protocol.md; its schemas: zeno schema."


def run() -> NoReturn:
    """The `zeno` command."""
    sys.exit(main())


def main(argv: Sequence[str] | None = None) -> int:
    """Parse flags, run one subcommand, return the exit status."""
    parser = _parser()
    options, rest = parser.parse_known_args(argv)
    # argparse does not take KEY=VALUE after a flag by itself.
    pairs = [text for text in rest if hasattr(options, "pairs") and not text.startswith("-")]
    if len(pairs) < len(rest):
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    if pairs:
        options.pairs = [*options.pairs, *pairs]
    try:
        status: int = options.run(options)
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        # Whoever was reading has seen enough; the interpreter must not complain while it closes standard output.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0
    except _CannotRun as error:
        print(f"zeno: {error}", file=sys.stderr)
        return 2


class _CannotRun(Exception):
    """Flags or files that make no sense; told in one line, exit status 2."""


class _Version(argparse.Action):
    """Looks the version up only when asked: that costs more than the rest of the command line."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"zeno {version('zeno-normalizer')} (protocol {spec.PROTOCOL_VERSION})")
        parser.exit()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="zeno",
        description="A read-only, deterministic retrieval server for language-model agents.",
        epilog=EPILOG,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    serve = commands.add_parser(
        "serve",
        help="answer JSON lines on standard input",
        description="Answer one JSON object a line on standard input with one on standard output, until input ends.",
        epilog=EPILOG,
    )
    _add_root(serve)
    serve.add_argument("--log", metavar="FILE", help="append a JSONL trace of all requests and answers to FILE")
    serve.add_argument(
        "--max-request-bytes", type=_positive, metavar="N", help="refuse longer request lines (default: 1 MiB)"
    )
    serve.add_argument(
        "--max-response-bytes", type=_positive, metavar="N", help="refuse to send longer answers (default: 16 MiB)"
    )
    serve.add_argument(
        "--cache-bytes",
        type=_positive,
        metavar="N",
        default=1 << 30,
        help="hold at most so much text and index in memory; the rest is read from disk (default: 1 GiB)",
    )
    serve.add_argument("--no-cache", action="store_true", help="hold nothing: walk and read anew for every request")
    serve.set_defaults(run=_serve)

    call = commands.add_parser(
        "call",
        help="run one operation and print its answer",
        description="Run one operation and print its answer. Exits 1 when the answer is an error.",
        epilog="Example: zeno call grep pattern=TODO paths=src paths=docs max_hits=5 --root .",
    )
    call.add_argument("op", metavar="OP", help="name of the operation, such as list_files")
    call.add_argument(
        "pairs",
        metavar="KEY=VALUE",
        nargs="*",
        help="an argument; strings as they are, the rest as JSON; repeat a list's key",
    )
    call.add_argument("--args", metavar="JSON", help="all arguments as one JSON object, instead of KEY=VALUE")
    _add_root(call)
    call.add_argument("--pretty", action="store_true", help="indent the answer")
    call.set_defaults(run=_call)

    schema = commands.add_parser(
        "schema",
        help="print the schemas of the protocol",
        description="Print one JSON Schema of the contract, or with no NAME all of them in one object.",
    )
    schema.add_argument("name", metavar="NAME", nargs="?", help="such as grep, request or zeno/ops/grep.json")
    schema.add_argument("--list", action="store_true", help="print the names only")
    schema.set_defaults(run=_schema)
    return parser


def _add_root(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--root", metavar="DIR", required=True, help="the directory to serve; nothing outside it is read"
    )


def _positive(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return number


def _serve(options: argparse.Namespace) -> int:
    from zeno.search.corpus import ColdCorpus
    from zeno.search.warm import WarmCorpus
    from zeno.server import MAX_REQUEST_BYTES, MAX_RESPONSE_BYTES, Server, serve
    from zeno.trace.writer import TraceWriter

    logging.basicConfig(stream=sys.stderr, format="zeno: %(message)s")
    with ExitStack() as stack:
        tree = _tree(options.root, stack)
        trace = None
        if options.log is not None:
            try:
                trace = TraceWriter(options.log)
            except OSError as error:
                raise _CannotRun(f"cannot open the log {options.log!r}: {os.strerror(error.errno or 0)}") from None
            stack.callback(trace.close)
            tree.conceal(trace.descriptor)
        corpus = ColdCorpus(tree) if options.no_cache else WarmCorpus(tree, options.cache_bytes)
        stack.callback(corpus.close)
        server = Server(
            corpus,
            trace,
            max_request_bytes=options.max_request_bytes or MAX_REQUEST_BYTES,
            max_response_bytes=options.max_response_bytes or MAX_RESPONSE_BYTES,
        )
        # Standard output belongs to the protocol alone: whatever else is printed in this process goes to stderr.
        sink = os.dup(1)
        stack.callback(os.close, sink)
        os.dup2(2, 1)
        # What is there now stays: the garbage collector need not look at it again and again.
        gc.freeze()
        serve(server, 0, sink)
    return 0


def _call(options: argparse.Namespace) -> int:
    from zeno.search.corpus import ColdCorpus
    from zeno.server import Server

    args = _arguments(options)
    line = json.dumps({"id": "call", "op": options.op, "args": args}).encode()
    with ExitStack() as stack:
        server = Server(ColdCorpus(_tree(options.root, stack)), max_request_bytes=max(len(line), 1 << 20))
        answer = server.answer(line)
    value = json.loads(answer)
    print(json.dumps(value, indent=2, ensure_ascii=False) if options.pretty else answer.decode().rstrip("\n"))
    return 0 if value["ok"] else 1


def _arguments(options: argparse.Namespace) -> Any:
    if options.args is not None:
        if options.pairs:
            raise _CannotRun("give either --args or KEY=VALUE, not both")
        try:
            return spec.parse(options.args.encode("utf-8", "surrogateescape"), max_depth=64)
        except spec.NotStrictJson as error:
            raise _CannotRun(f"--args is not strict JSON: {error}") from None
    known = {}
    if f"zeno/ops/{options.op}.json" in spec.names():
        known = spec.schema(f"zeno/ops/{options.op}.json")["$defs"]["args"]["properties"]
    args: dict[str, Any] = {}
    for pair in options.pairs:
        key, equals, text = pair.partition("=")
        if not equals:
            raise _CannotRun(f"{pair!r} is not KEY=VALUE")
        kind = known.get(key, {}).get("type")
        if kind == "array" and not text.startswith("["):
            args.setdefault(key, []).append(text)
        else:
            args[key] = text if kind in ("string", None) else _json(key, text)
    return args


def _json(key: str, text: str) -> Any:
    try:
        return spec.parse(text.encode("utf-8", "surrogateescape"), max_depth=64)
    except spec.NotStrictJson:
        raise _CannotRun(f"the value of {key} is not JSON: {text!r}") from None


def _schema(options: argparse.Namespace) -> int:
    if options.list:
        print("\n".join(spec.names()))
        return 0
    if options.name is None:
        document: Any = {
            "protocol": spec.PROTOCOL_VERSION,
            "schemas": {name: spec.schema(name) for name in spec.names()},
        }
    else:
        wanted = (
            options.name,
            f"zeno/{options.name}.json",
            f"zeno/ops/{options.name}.json",
            f"eval/{options.name}.json",
        )
        name = next((name for name in wanted if name in spec.names()), None)
        if name is None:
            raise _CannotRun(f"no schema is called {options.name!r}; zeno schema --list tells which there are")
        document = spec.schema(name)
    print(json.dumps(document, indent=2, ensure_ascii=False))
    return 0


def _tree(root: str, stack: ExitStack) -> Any:
    from zeno.tree import Tree

    try:
        return stack.enter_context(Tree(root))
    except OSError as error:
        raise _CannotRun(f"cannot serve {root!r}: {os.strerror(error.errno or 0)}") from None
