"""The commands that explain: `schema`, `docs`, `doctor`, `completion` and `man`, each with its flags."""

import argparse
import difflib
import json
import pydoc
import sys
from collections.abc import Callable
from typing import Any

import contract_spec as spec

from zeno.cli.flags import Commands
from zeno.errors import CannotRun

MakeParser = Callable[[], argparse.ArgumentParser]


def add_schema(inner: Commands) -> None:
    """Add `schema`."""
    parser = inner.add_parser(
        "schema",
        help="print the schemas of the protocol",
        description="Print one JSON Schema of the contract, or with no NAME all of them in one object.",
    )
    parser.add_argument("name", metavar="NAME", nargs="?", help="such as grep, request or zeno/ops/grep.json")
    parser.add_argument("--list", action="store_true", help="print the names only")
    parser.set_defaults(run=schema)


def add_docs(inner: Commands) -> None:
    """Add `docs`."""
    parser = inner.add_parser(
        "docs",
        help="print a page of the documentation",
        description="Print a page of the documentation as Markdown, or with no PAGE the names of all pages.",
    )
    parser.add_argument("page", metavar="PAGE", nargs="?", help="such as protocol, interfaces or trace")
    parser.set_defaults(run=docs)


def add_doctor(inner: Commands) -> None:
    """Add `doctor`."""
    parser = inner.add_parser(
        "doctor",
        help="check this installation and what the system offers",
        description="Check versions, names that clash with other packages, extras, inotify, openat2 and Landlock. "
        "Exits 1 when something does not work.",
    )
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how to print (default: text)")
    parser.set_defaults(run=doctor)


def add_completion(inner: Commands, make_parser: MakeParser) -> None:
    """Add `completion`, of the whole parser."""
    parser = inner.add_parser(
        "completion",
        help="print a completion script for a shell",
        description='Print a completion script. For bash and zsh: eval "$(zeno completion bash)".',
    )
    parser.add_argument("shell", metavar="SHELL", choices=("bash", "zsh", "fish"), help="one of bash, zsh and fish")
    parser.set_defaults(run=lambda options: completion(options, make_parser()))


def add_manual(inner: Commands, make_parser: MakeParser) -> None:
    """Add `man`, of the whole parser."""
    parser = inner.add_parser(
        "man",
        help="print the manual page",
        description="Print the manual page, for `zeno man | man -l -` or a folder of manual pages.",
    )
    parser.set_defaults(run=lambda _: manual(make_parser()))


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
            known = {name.removesuffix(".json").rpartition("/")[2] for name in spec.names()}
            near = difflib.get_close_matches(options.name, sorted(known), 1)
            meant = f"did you mean {near[0]}?" if near else "zeno schema --list prints the names"
            raise CannotRun(f"no schema is called {options.name!r}; {meant}")
        document = spec.schema(name)
    print(json.dumps(document, indent=2, ensure_ascii=False))
    return 0


def docs(options: argparse.Namespace) -> int:
    """Print a page of the documentation, or the names of all pages."""
    from contract_spec import pages

    if options.page is None:
        print(pages.overview(), end="")
        return 0
    if options.page not in pages.names():
        near = difflib.get_close_matches(options.page, pages.names(), 1)
        meant = f"did you mean {near[0]}?" if near else "zeno docs lists all pages"
        raise CannotRun(f"there is no page {options.page!r}: {meant}")
    if sys.stdout.isatty():
        pydoc.pager(pages.text(options.page))
    else:
        print(pages.text(options.page), end="")
    return 0


def doctor(options: argparse.Namespace) -> int:
    """Check the installation."""
    from zeno.cli.install.doctor import doctor

    return doctor(options)


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
