"""The command line: flags become objects, objects go into one library call, and the exit status comes out.

0: fine; 1: it ran and the answer is an error; 2: it could not run.
"""

import argparse
import gc
import io
import json
import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

import contract_spec as spec

from zeno.errors import CannotRun as _CannotRun
from zeno.flags import port, positive

EPILOG = "Documentation of the protocol: docs/protocol.md; its schemas: zeno schema."


def run() -> int:
    """The `zeno` command, in a process of its own."""
    _open_standard_streams()
    return main()


def _open_standard_streams() -> None:
    """Whoever starts us may have closed some: what is opened next, the root or the log, must not take their numbers."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(number, True)
    os.close(number)
    for stream in (sys.stdout, sys.stderr):
        # JSON is UTF-8, whatever the locale; one that cannot print a name is no reason to print nothing.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


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
        if sys.stdout is not None:
            sys.stdout.flush()
        return status
    except BrokenPipeError:
        # Whoever was reading has seen enough.
        _forget_output()
        return 0
    except OSError as error:
        _forget_output()
        print(f"zeno: cannot go on: {error.strerror or error}", file=sys.stderr)
        return 2
    except _CannotRun as error:
        print(f"zeno: {error}", file=sys.stderr)
        return 2


class _Version(argparse.Action):
    """Looks the version up only when asked: that costs more than the rest of the command line."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"zeno {version('zeno-normalizer')} (protocol {spec.PROTOCOL_VERSION})")
        parser.exit()


def _forget_output() -> None:
    """Let go of standard output: the interpreter must not complain while it closes it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


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
    _add_server(serve)
    serve.set_defaults(run=_serve)

    mcp = commands.add_parser(
        "mcp",
        help="answer the Model Context Protocol on standard input",
        description="Serve every operation as a tool of the Model Context Protocol over standard input and output.",
        epilog="Needs the extra: pip install 'zeno-normalizer[mcp]'. How to set up agents: docs/doors.md.",
    )
    _add_server(mcp)
    mcp.set_defaults(run=_mcp)

    http = commands.add_parser(
        "http",
        help="answer HTTP requests",
        description="Serve POST /v1/ops/OP, POST /v1/jsonl, GET /openapi.json and GET /healthz.",
        epilog="Needs the extra: pip install 'zeno-normalizer[http]'. Documentation: docs/doors.md.",
    )
    _add_server(http)
    http.add_argument("--host", default="127.0.0.1", help="address to listen on (default: 127.0.0.1)")
    http.add_argument("--port", type=port, default=8717, help="port to listen on, 0 for any free one (default: 8717)")
    http.add_argument(
        "--token-file", metavar="FILE", help="demand this token; needed for any address that is not loopback"
    )
    http.add_argument(
        "--allow-host",
        metavar="NAME",
        action="append",
        default=[],
        help="also answer to this name in the Host header, besides localhost and plain addresses; may be repeated",
    )
    http.set_defaults(run=_http)

    shell = commands.add_parser(
        "shell",
        help="ask by hand, with completion and history",
        description="A prompt for people: type an operation and its arguments, read the answer as text.",
        epilog="Example: at the prompt, type: grep TODO paths=src max_hits=5",
    )
    _add_root(shell)
    shell.set_defaults(run=_shell)

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

    from zeno.trace.cli import add_commands

    add_commands(commands)
    return parser


def _add_root(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--root", metavar="DIR", required=True, help="the directory to serve; nothing outside it is read"
    )


def _add_server(parser: argparse.ArgumentParser) -> None:
    """The flags that all doors share."""
    _add_root(parser)
    parser.add_argument("--log", metavar="FILE", help="append a JSONL trace of all requests and answers to FILE")
    parser.add_argument(
        "--max-request-bytes", type=positive, metavar="N", help="refuse longer requests (default: 1 MiB)"
    )
    parser.add_argument(
        "--max-response-bytes", type=positive, metavar="N", help="refuse to send longer answers (default: 16 MiB)"
    )
    parser.add_argument(
        "--cache-bytes",
        type=positive,
        metavar="N",
        default=1 << 30,
        help="hold at most so much text and index in memory; the rest is read from disk (default: 1 GiB)",
    )
    parser.add_argument("--no-cache", action="store_true", help="hold nothing: walk and read anew for every request")
    parser.add_argument("--max-ops", type=positive, metavar="N", help="answer at most so many requests")
    parser.add_argument("--max-lines", type=positive, metavar="N", help="return at most so many lines of files in all")
    parser.add_argument(
        "--max-bytes", type=positive, metavar="N", help="return at most so many bytes of results in all"
    )
    parser.add_argument(
        "--gitignore",
        action="store_true",
        help="leave out what git ignores, where a request does not say gitignore itself",
    )


def _server(options: argparse.Namespace, stack: ExitStack) -> Any:
    """The server that flags describe, whatever door it stands behind."""
    from zeno.search.corpus import ColdCorpus
    from zeno.search.warm import WarmCorpus
    from zeno.server import MAX_REQUEST_BYTES, MAX_RESPONSE_BYTES, Server
    from zeno.trace.writer import TraceWriter

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
    return Server(
        corpus,
        trace,
        max_request_bytes=options.max_request_bytes or MAX_REQUEST_BYTES,
        max_response_bytes=options.max_response_bytes or MAX_RESPONSE_BYTES,
        max_ops=options.max_ops,
        max_lines=options.max_lines,
        max_bytes=options.max_bytes,
        gitignore=options.gitignore,
    )


def _serve(options: argparse.Namespace) -> int:
    from zeno.server import serve

    if sys.stdout is None:
        raise _CannotRun("standard output is closed, so nobody can be answered; give it somewhere to go")
    with ExitStack() as stack:
        server = _server(options, stack)
        # Standard output belongs to the protocol alone: whatever else is printed in this process goes to stderr.
        sink = os.dup(1)
        stack.callback(os.close, sink)
        os.dup2(2, 1)
        # What is there now stays: the garbage collector need not look at it again and again.
        gc.freeze()
        serve(server, 0, sink)
    return 0


def _mcp(options: argparse.Namespace) -> int:
    with ExitStack() as stack:
        server = _server(options, stack)
        try:
            from zeno.mcp import serve
        except ModuleNotFoundError as error:
            raise _needs("mcp", error) from None
        serve(server)
    return 0


def _http(options: argparse.Namespace) -> int:
    with ExitStack() as stack:
        server = _server(options, stack)
        try:
            from zeno.doorman import CannotListen, listen
            from zeno.http import serve
        except ModuleNotFoundError as error:
            raise _needs("http", error) from None
        try:
            listening = listen(options.host, options.port, options.token_file)
        except CannotListen as error:
            raise _CannotRun(str(error)) from None
        stack.callback(listening.socket.close)
        serve(server, listening, options.allow_host)
    return 0


def _needs(extra: str, error: ModuleNotFoundError) -> _CannotRun:
    return _CannotRun(f"{error.name} is not installed; run: pip install 'zeno-normalizer[{extra}]'")


def _shell(options: argparse.Namespace) -> int:
    from zeno.search.corpus import ColdCorpus
    from zeno.server import Server
    from zeno.shell import Shell

    with ExitStack() as stack:
        return Shell(Server(ColdCorpus(_tree(options.root, stack)))).run()


def _call(options: argparse.Namespace) -> int:
    from zeno.names import typed
    from zeno.search.corpus import ColdCorpus
    from zeno.server import Server

    if typed(options.op) != options.op:
        raise _CannotRun(f"no operation is called {options.op!r}: the name is not UTF-8")
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
    from zeno.pairs import NotAPair, arguments

    try:
        return arguments(options.op, options.pairs)
    except NotAPair as error:
        raise _CannotRun(str(error)) from None


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
