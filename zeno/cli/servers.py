"""The commands that serve: `serve`, `mcp` and `http`, each with its flags."""

import argparse
import gc
import os
import sys
from contextlib import ExitStack
from typing import Any

import contract_spec as spec
from contract_spec.extras import install_command

from zeno.cli.flags import EPILOG, Commands, add_server, port, positive, read_options
from zeno.cli.interrupts import sigint_ends_process
from zeno.cli.policy_flags import open_tree
from zeno.errors import CannotRun, ZenoError
from zeno.options import Confinement


def add_serve(inner: Commands) -> None:
    """Add `serve`."""
    parser = inner.add_parser(
        "serve",
        help="answer JSON lines on standard input",
        description="Answer one JSON object a line on standard input with one on standard output, until input ends.",
        epilog=EPILOG,
    )
    add_server(parser)
    parser.set_defaults(run=serve)


def add_mcp(inner: Commands) -> None:
    """Add `mcp`."""
    parser = inner.add_parser(
        "mcp",
        help="answer the Model Context Protocol on standard input",
        description="Serve every operation as a tool of the Model Context Protocol over standard input and output.",
        epilog="Needs the extra mcp; zeno doctor prints how to install it. How to set up agents: zeno docs interfaces.",
    )
    _add_server_for_agents(parser)
    parser.add_argument(
        "--ignore-client-roots",
        action="store_true",
        help="serve DIR whole, even to a client that has roots of its own inside DIR",
    )
    parser.set_defaults(run=mcp)


def add_http(inner: Commands) -> None:
    """Add `http`."""
    parser = inner.add_parser(
        "http",
        help="answer HTTP requests",
        description="Serve operations at POST /v1/ops/OP, request lines at POST /v1/jsonl, MCP at /mcp, "
        "GET /openapi.json and GET /healthz; with --log also POST /v1/claims.",
        epilog="Needs the extra http; zeno doctor prints how to install it. Documentation: zeno docs interfaces.",
    )
    _add_server_for_agents(parser)
    parser.add_argument("--host", metavar="HOST", default="127.0.0.1", help="address to listen on (default: 127.0.0.1)")
    parser.add_argument(
        "--port", metavar="PORT", type=port, default=8717, help="port to listen on, 0 for any free one (default: 8717)"
    )
    parser.add_argument(
        "--token-file", metavar="FILE", help="demand this token; needed for any address that is not loopback"
    )
    parser.add_argument(
        "--allow-host",
        metavar="NAME",
        action="append",
        default=[],
        help="also answer to this name in the Host header, besides localhost and plain addresses; may be repeated",
    )
    parser.add_argument(
        "--client-timeout",
        type=positive,
        metavar="N",
        default=30,
        help="close connections on which a client sends or takes nothing for N seconds (default: 30)",
    )
    parser.set_defaults(run=http)


def _add_server_for_agents(parser: argparse.ArgumentParser) -> None:
    # Several clients share these servers.
    max_seconds: int = spec.resource("rules/request_limits.json")["max_seconds"]
    add_server(parser, max_seconds, for_agents=True)
    parser.add_argument(
        "--all-tools", action="store_true", help="offer models a tool for every operation, also those that few need"
    )


def serve(options: argparse.Namespace) -> int:
    """Answer JSON lines on standard input."""
    require_output()
    with ExitStack() as stack:
        server, tree, repositories = _open_server(options, stack)
        from zeno.interfaces.stdio import serve
        from zeno.session import dispatch

        # Standard output is only for the protocol; anything else printed in this process goes to stderr.
        sink = os.dup(1)
        stack.callback(os.close, sink)
        os.dup2(2, 1)
        _confine(options, server, [*tree.descriptors, *repositories.descriptors])
        # The first search has all files to read, so import grep now.
        dispatch.prepare("grep")
        # Objects that exist now stay: exclude them from garbage collection.
        gc.freeze()
        _tell_what_it_waits_for('one JSON object a line, such as {"id": "1", "op": "list_files", "args": {}}')
        serve(server, 0, sink)
    return 0


def mcp(options: argparse.Namespace) -> int:
    """Answer the Model Context Protocol."""
    require_output()
    with ExitStack() as stack:
        server, tree, repositories = _open_server(options, stack)
        try:
            from zeno.interfaces.mcp.client_roots import ClientRoots
            from zeno.interfaces.mcp.standard_io import serve
        except ModuleNotFoundError as error:
            raise _needs("mcp", error) from None
        claims = _claims(options, stack, server)
        client_roots = None
        if not options.ignore_client_roots:
            client_roots = ClientRoots(
                server, claims, tree, lambda narrowed: make_corpus(options, narrowed, repositories)
            )
        _confine(options, server, [*tree.descriptors, *repositories.descriptors])
        _tell_what_it_waits_for("messages of an MCP client, which starts this command itself: see zeno docs interfaces")
        serve(server, claims, client_roots)
    return 0


def _tell_what_it_waits_for(requests: str) -> None:
    """Say at a terminal, where nothing would happen otherwise, what is to be sent and how to end the server."""
    if sys.stdin.isatty():
        print(f"zeno: waiting for {requests}. Ctrl-C ends it.", file=sys.stderr, flush=True)


def http(options: argparse.Namespace) -> int:
    """Answer HTTP requests."""
    with ExitStack() as stack:
        server, tree, repositories = _open_server(options, stack)
        try:
            from zeno.interfaces.http.access import CannotListen, listen
            from zeno.interfaces.http.app import serve
        except ModuleNotFoundError as error:
            raise _needs("http", error) from None
        try:
            listening = listen(options.host, options.port, options.token_file)
        except CannotListen as error:
            raise CannotRun(str(error)) from None
        stack.callback(listening.socket.close)
        claims = _claims(options, stack, server)
        _confine(options, server, [*tree.descriptors, *repositories.descriptors])
        serve(server, listening, options.allow_host, claims, options.client_timeout)
    return 0


def _needs(extra: str, error: ModuleNotFoundError) -> CannotRun:
    return CannotRun(f"{error.name} is not installed; run: {install_command(extra)}")


def _open_server(options: argparse.Namespace, stack: ExitStack) -> tuple[Any, Any, Any]:
    """Return the server that the flags describe, its tree and its repositories. Raises CannotRun."""
    tree = open_tree(options, stack, "cannot serve")
    repositories = find_repositories(options, tree, stack)
    return _server(options, stack, tree, repositories), tree, repositories


@sigint_ends_process()
def _server(options: argparse.Namespace, stack: ExitStack, tree: Any, repositories: Any) -> Any:
    """Return the server that the flags describe. Raises CannotRun if the log cannot be opened."""
    # Plugins of other packages must not affect answers, and searching for them takes time.
    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
    from zeno.session.server import Server

    trace = None
    if options.log is not None:
        from zeno.trace.writer import TraceWriter

        try:
            trace = TraceWriter(options.log)
        except OSError as error:
            raise CannotRun(f"cannot open the log {options.log!r}: {os.strerror(error.errno or 0)}") from None
        stack.callback(trace.close)
        tree.conceal(trace.descriptor)
    server = Server(make_corpus(options, tree, repositories), trace, read_options(options))
    stack.callback(server.close)
    server.begin_session()
    return server


def find_repositories(options: argparse.Namespace, tree: Any, stack: ExitStack) -> Any:
    """Return the repositories at the roots, or why there are none; the stack closes them."""
    from zeno.revisions.repository import Repositories

    found = Repositories(tree.descriptors)
    stack.callback(found.close)
    if options.rev is not None or options.revs != []:
        # Where no commit is served, a confined process needs nothing outside of the root.
        found.prepare()
    return found


def make_corpus(options: argparse.Namespace, tree: Any, repositories: Any) -> Any:
    """Return the corpus of one root or several, cold or warm, or of the commit that the flags name.

    Several share the memory that the flags allow. Raises CannotRun if there is no such commit.
    """
    from zeno.cache.warm_corpus import WarmCorpus
    from zeno.revisions.named_commits import make_revisions
    from zeno.search.corpus import ColdCorpus
    from zeno.search.roots_corpus import corpus_of

    cache_bytes = 0 if options.no_cache else options.cache_bytes // len(tree.descriptors)
    corpus = corpus_of(tree, ColdCorpus if options.no_cache else lambda root: WarmCorpus(root, cache_bytes))
    commits = make_revisions(tree, repositories, options.revs, corpus)
    if options.rev is not None:
        try:
            return commits.pin(options.rev)
        except ZenoError as error:
            raise CannotRun(str(error)) from None
    corpus.revisions = commits
    return corpus


def _confine(options: argparse.Namespace, server: Any, directories: list[int]) -> None:
    """Confine the process to open directories, after everything that the flags name is open."""
    if options.confine == "off":
        return
    from zeno.confinement import landlock, needs, seccomp

    lacking = ""
    try:
        landlock.restrict(needs.rules(directories, options.log))
    except landlock.NotPossible as error:
        lacking = str(error)
    confinement = Confinement(files=not lacking, network=seccomp.restrict())
    if options.confine == "require" and not all(confinement):
        lacking = lacking or "there is no seccomp, or no filter for this kind of machine"
        raise CannotRun(f"cannot confine itself: {lacking}; --confine auto goes on without")
    server.set_confinement(confinement)


def _claims(options: argparse.Namespace, stack: ExitStack, server: Any) -> Any:
    """Return the writer of clients' claims; None without a log."""
    if options.log is None:
        return None
    from zeno.interfaces.claims import Claims
    from zeno.trace.recorder import Recorder

    def find_commit(rev: str) -> Any:
        return server.corpus.revisions.at(rev, "rev").tree

    return Claims(stack.enter_context(Recorder(options.log, server.corpus.tree, find_commit=find_commit)))


def require_output() -> None:
    """Raise CannotRun if standard output is closed."""
    if sys.stdout is None:
        raise CannotRun("standard output is closed, so no answer can be sent; open it")
