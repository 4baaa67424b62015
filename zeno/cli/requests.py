"""The commands that ask: `shell` at a prompt and `call` once, each with its flags."""

import argparse
import json
import sys
from contextlib import ExitStack
from typing import Any

import contract_spec as spec
from contract_spec.operations import operations

from zeno.cli.flags import Commands, add_cache, add_revisions, add_root
from zeno.cli.policy_flags import open_tree
from zeno.cli.servers import find_repositories, make_corpus, require_output
from zeno.errors import CannotRun


def add_shell(inner: Commands) -> None:
    """Add `shell`."""
    parser = inner.add_parser(
        "shell",
        help="ask by hand, with completion and history",
        description="A prompt for people: type an operation and its arguments, read the answer as text.",
        epilog="Example: at the prompt, type: grep TODO paths=src max_hits=5",
    )
    add_root(parser)
    add_cache(parser)
    parser.set_defaults(run=shell, no_cache=False, rev=None, revs=None)


def add_call(inner: Commands) -> None:
    """Add `call`."""
    parser = inner.add_parser(
        "call",
        help="run one operation and print its answer",
        description="Run one operation and print its answer. Exits 1 when the answer is an error.",
        epilog="Examples: zeno call . read_file README.md ; zeno call . grep TODO src max_hits=5",
    )
    parser.add_argument("op", metavar="[DIR] OP", help="the directory, unless --root names it; then the operation")
    parser.add_argument(
        "pairs",
        metavar="ARGUMENT",
        nargs="*",
        default=[],
        help="KEY=VALUE: strings as they are, the rest as JSON; repeat a list's key. The first may be the value alone, "
        "and those behind it paths where the operation takes any",
    )
    parser.add_argument("--args", metavar="JSON", help="all arguments as one JSON object, instead of single ones")
    add_root(parser, alone=False)
    add_revisions(parser)
    parser.add_argument(
        "--format",
        choices=("text", "json", "pretty"),
        help="how to print the answer: text for people, the response line, or it indented (default: text on a "
        "terminal, json elsewhere)",
    )
    parser.set_defaults(run=call, needs_root=False, no_cache=True)


def shell(options: argparse.Namespace) -> int:
    """Answer requests typed at a prompt."""
    require_output()
    from zeno.interfaces.shell import Shell
    from zeno.session.server import Server

    with ExitStack() as stack:
        tree = open_tree(options, stack, "cannot serve")
        server = Server(make_corpus(options, tree, find_repositories(options, tree, stack)))
        stack.callback(server.close)
        return Shell(server).run()


def call(options: argparse.Namespace) -> int:
    """Run one operation."""
    _take_directory(options)
    from zeno.session.server import Server
    from zeno.text.path_names import decode_word

    if decode_word(options.op) != options.op:
        raise CannotRun(f"no operation is called {options.op!r}: the name is not UTF-8")
    form = options.format or ("text" if sys.stdout is not None and sys.stdout.isatty() else "json")
    args = _arguments(options)
    if form == "text":
        from zeno.interfaces.key_value import read_on

        args = read_on(options.op, args)
    with ExitStack() as stack:
        tree = open_tree(options, stack, "cannot serve")
        corpus = make_corpus(options, tree, find_repositories(options, tree, stack))
        answer = Server(corpus).ask("call", options.op, args).line
    value = json.loads(answer)
    if form == "text":
        _print_text(value, options.op, args)
    elif form == "pretty":
        from zeno.interfaces.rows import visible_json

        print(visible_json(json.dumps(value, indent=2, ensure_ascii=False)))
    else:
        print(answer.decode().rstrip("\n"))
    if form != "text" and not value["ok"] and value["error"]["code"] == "unknown_op":
        from zeno.interfaces.key_value import suggest_operation
        from zeno.interfaces.rows import visible

        # The message of the response is part of the protocol: the cure is said beside it.
        print(visible(f"zeno: no operation is called {options.op!r}{suggest_operation(options.op)}"), file=sys.stderr)
    return 0 if value["ok"] else 1


def _take_directory(options: argparse.Namespace) -> None:
    """Take the first word for the directory where no flag names one, and the second for the operation."""
    if options.root:
        return
    if options.op in operations() or not options.pairs:
        raise CannotRun("name the directory before the operation, such as: zeno call . list_files")
    options.root, options.op, options.pairs = [options.op], options.pairs[0], options.pairs[1:]


def _print_text(answer: dict[str, Any], op: str, args: Any) -> None:
    """Print an answer for a person: the text that models get on standard output, an error on standard error."""
    from zeno.interfaces.colour import is_coloured, paint
    from zeno.interfaces.key_value import suggest_operation
    from zeno.interfaces.result_text import text_of
    from zeno.interfaces.rows import visible

    if answer["ok"]:
        text = text_of(op, answer["result"], args=args)
        print(paint(text) if is_coloured() else text)
    else:
        cure = suggest_operation(op) if answer["error"]["code"] == "unknown_op" else ""
        print(visible(f"zeno: {answer['error']['code']}: {answer['error']['message']}{cure}"), file=sys.stderr)


def _arguments(options: argparse.Namespace) -> Any:
    if options.args is not None:
        if options.pairs:
            raise CannotRun("give either --args or KEY=VALUE, not both")
        try:
            return spec.parse(options.args.encode("utf-8", "surrogateescape"), max_depth=64)
        except spec.NotStrictJson as error:
            raise CannotRun(f"--args is not strict JSON: {error}") from None
    from zeno.interfaces.key_value import NotAPair, arguments

    try:
        return arguments(options.op, options.pairs)
    except NotAPair as error:
        raise CannotRun(str(error)) from None
