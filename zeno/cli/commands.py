"""The commands. Each makes objects from its flags and calls one function of the library."""

import argparse
import gc
import json
import os
import sys
from contextlib import ExitStack
from typing import Any

import contract_spec as spec
from contract_spec.extras import install_command

from zeno.cli.interrupts import sigint_ends_process
from zeno.cli.policy_flags import opened_tree
from zeno.errors import CannotRun
from zeno.options import Confinement


@sigint_ends_process()
def _server(options: argparse.Namespace, stack: ExitStack, tree: Any) -> Any:
    """Return the server that the flags describe. Raises CannotRun if the log cannot be opened."""
    # Plugins of other packages must not affect answers, and searching for them takes time.
    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
    from zeno.session.server import MAX_REQUEST_BYTES, MAX_RESPONSE_BYTES, Server

    trace = None
    if options.log is not None:
        from zeno.trace.writer import TraceWriter

        try:
            trace = TraceWriter(options.log)
        except OSError as error:
            raise CannotRun(f"cannot open the log {options.log!r}: {os.strerror(error.errno or 0)}") from None
        stack.callback(trace.close)
        tree.conceal(trace.descriptor)
    server = Server(
        _corpus(options, tree),
        trace,
        max_request_bytes=options.max_request_bytes or MAX_REQUEST_BYTES,
        max_response_bytes=options.max_response_bytes or MAX_RESPONSE_BYTES,
        max_ops=options.max_ops,
        max_lines=options.max_lines,
        max_bytes=options.max_bytes,
        max_seconds=options.max_seconds or None,
        max_pattern_work=options.max_pattern_work,
        max_scan_bytes=options.max_scan_bytes,
        gitignore=options.gitignore,
    )
    stack.callback(server.close)
    server.begin_session()
    return server


def _corpus(options: argparse.Namespace, tree: Any) -> Any:
    """Return the corpus of one root or several, cold or warm; several share the memory that the flags allow."""
    from zeno.cache.warm_corpus import WarmCorpus
    from zeno.search.cold import ColdCorpus
    from zeno.search.roots_corpus import corpus_of

    cache_bytes = options.cache_bytes // len(tree.descriptors)
    return corpus_of(tree, ColdCorpus if options.no_cache else lambda root: WarmCorpus(root, cache_bytes))


def _confine(options: argparse.Namespace, server: Any, tree: Any) -> None:
    """Confine the process after everything that the flags name is open."""
    if options.confine == "off":
        return
    from zeno.confinement import landlock, needs, seccomp

    lacking = ""
    try:
        landlock.restrict(needs.rules(tree.descriptors, options.log))
    except landlock.NotPossible as error:
        lacking = str(error)
    confinement = Confinement(files=not lacking, network=seccomp.restrict())
    if options.confine == "require" and not all(confinement):
        lacking = lacking or "there is no seccomp, or no filter for this kind of machine"
        raise CannotRun(f"cannot confine itself: {lacking}; --confine auto goes on without")
    server.set_confinement(confinement)


def _claims(options: argparse.Namespace, stack: ExitStack, tree: Any) -> Any:
    """Return the writer of clients' claims; None without a log."""
    if options.log is None:
        return None
    from zeno.doors.claims import Claims
    from zeno.trace.recorder import Recorder

    return Claims(stack.enter_context(Recorder(options.log, tree)))


def _require_output() -> None:
    if sys.stdout is None:
        raise CannotRun("standard output is closed, so no answer can be sent; open it")


def serve(options: argparse.Namespace) -> int:
    """Answer JSON lines on standard input."""
    _require_output()
    with ExitStack() as stack:
        tree = _tree(options, stack)
        server = _server(options, stack, tree)
        from zeno.doors.stdio import serve
        from zeno.session import dispatch

        # Standard output is only for the protocol; anything else printed in this process goes to stderr.
        sink = os.dup(1)
        stack.callback(os.close, sink)
        os.dup2(2, 1)
        _confine(options, server, tree)
        # The first search has all files to read, so import grep now.
        dispatch.prepare("grep")
        # Objects that exist now stay: exclude them from garbage collection.
        gc.freeze()
        serve(server, 0, sink)
    return 0


def mcp(options: argparse.Namespace) -> int:
    """Answer the Model Context Protocol."""
    _require_output()
    with ExitStack() as stack:
        tree = _tree(options, stack)
        server = _server(options, stack, tree)
        try:
            from zeno.doors.mcp.client_roots import ClientRoots
            from zeno.doors.mcp.standard_io import serve
        except ModuleNotFoundError as error:
            raise _needs("mcp", error) from None
        claims = _claims(options, stack, tree)
        client_roots = None
        if not options.ignore_client_roots:
            client_roots = ClientRoots(server, claims, tree, lambda narrowed: _corpus(options, narrowed))
        _confine(options, server, tree)
        serve(server, claims, client_roots)
    return 0


def http(options: argparse.Namespace) -> int:
    """Answer HTTP requests."""
    with ExitStack() as stack:
        tree = _tree(options, stack)
        server = _server(options, stack, tree)
        try:
            from zeno.doors.http.access import CannotListen, listen
            from zeno.doors.http.app import serve
        except ModuleNotFoundError as error:
            raise _needs("http", error) from None
        try:
            listening = listen(options.host, options.port, options.token_file)
        except CannotListen as error:
            raise CannotRun(str(error)) from None
        stack.callback(listening.socket.close)
        claims = _claims(options, stack, tree)
        _confine(options, server, tree)
        serve(server, listening, options.allow_host, claims, options.client_timeout)
    return 0


def _needs(extra: str, error: ModuleNotFoundError) -> CannotRun:
    return CannotRun(f"{error.name} is not installed; run: {install_command(extra)}")


def shell(options: argparse.Namespace) -> int:
    """Answer requests typed at a prompt."""
    _require_output()
    from zeno.doors.shell import Shell
    from zeno.session.server import Server

    with ExitStack() as stack:
        server = Server(_corpus(options, _tree(options, stack)))
        stack.callback(server.close)
        return Shell(server).run()


def call(options: argparse.Namespace) -> int:
    """Run one operation."""
    from zeno.search.cold import ColdCorpus
    from zeno.search.roots_corpus import corpus_of
    from zeno.session.server import Server
    from zeno.text.path_names import typed

    if typed(options.op) != options.op:
        raise CannotRun(f"no operation is called {options.op!r}: the name is not UTF-8")
    as_text = options.text or (sys.stdout is not None and sys.stdout.isatty() and not (options.pretty or options.json))
    args = _arguments(options)
    if as_text:
        from zeno.doors.key_value import reading_on

        args = reading_on(options.op, args)
    with ExitStack() as stack:
        answer = Server(corpus_of(_tree(options, stack), ColdCorpus)).ask("call", options.op, args).line
    value = json.loads(answer)
    if as_text:
        _print_text(value)
    elif options.pretty:
        from zeno.doors.visible import visible_json

        print(visible_json(json.dumps(value, indent=2, ensure_ascii=False)))
    else:
        print(answer.decode().rstrip("\n"))
    return 0 if value["ok"] else 1


def _print_text(answer: dict[str, Any]) -> None:
    """Print an answer for a person: the result on standard output, an error on standard error."""
    from zeno.doors.plain_text import plain
    from zeno.doors.visible import visible

    if answer["ok"]:
        print(visible(plain(answer["result"])))
    else:
        print(visible(f"zeno: {answer['error']['code']}: {answer['error']['message']}"), file=sys.stderr)


def _arguments(options: argparse.Namespace) -> Any:
    if options.args is not None:
        if options.pairs:
            raise CannotRun("give either --args or KEY=VALUE, not both")
        try:
            return spec.parse(options.args.encode("utf-8", "surrogateescape"), max_depth=64)
        except spec.NotStrictJson as error:
            raise CannotRun(f"--args is not strict JSON: {error}") from None
    from zeno.doors.key_value import NotAPair, arguments

    try:
        return arguments(options.op, options.pairs)
    except NotAPair as error:
        raise CannotRun(str(error)) from None


def schema(options: argparse.Namespace) -> int:
    """Print schemas."""
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
            raise CannotRun(f"no schema is called {options.name!r}; zeno schema --list prints the names")
        document = spec.schema(name)
    print(json.dumps(document, indent=2, ensure_ascii=False))
    return 0


def doctor(options: argparse.Namespace) -> int:
    """Check the installation."""
    from zeno.cli.install.doctor import doctor

    return doctor(options)


def docs(options: argparse.Namespace) -> int:
    """Print a page of the documentation, or the names of all pages."""
    from contract_spec import pages

    names = pages.names()
    if options.page is None:
        width = max(map(len, names), default=0)
        print("".join(f"{name:<{width}}  {pages.title(name)}\n" for name in names), end="")
        return 0
    if options.page not in names:
        raise CannotRun(f"there is no page {options.page!r}; zeno docs lists all pages")
    print(pages.text(options.page), end="")
    return 0


def completion(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    """Print a completion script of the parser's program."""
    from zeno.cli.install.completion import script

    print(script(parser, options.shell), end="")
    return 0


def manual(parser: argparse.ArgumentParser) -> int:
    """Print the manual page of the parser's program."""
    from importlib.metadata import version

    from zeno.cli.install.manual import page

    print(page(parser, version("zeno-normalizer")), end="")
    return 0


def _tree(options: argparse.Namespace, stack: ExitStack) -> Any:
    """Open the root, or the roots, that the flags name."""
    return opened_tree(options, stack, "cannot serve")
