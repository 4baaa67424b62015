"""Write the pages that are made, those of docs/reference and the skill for agents, or with --check compare them.

`errors` lists every error code of Zeno and every reason code and flag of normalizer, from spec/. `operations` lists
every operation with its arguments, from the schemas. `zeno-commands` and `normalizer-commands` list every command with
its flags, from the parsers, and `dialect` every member of a dialect, from its schema. The head of the skill names the
operations, and a list in it has the first sentence that models are told of each.
"""

import argparse
import json
import re
import textwrap
from collections.abc import Iterable, Iterator
from typing import Any

import click
import contract_spec as spec
from contract_spec.operations import operations

from tools.made_files import ROOT, write_or_check

BANNER = "<!-- Made by `nox -s generate`. Do not edit: change its source and make it anew. -->\n"
BLAMES = {"audit": "the file", "bundle": "the bundle", "entry": "the entry"}
WIDTH = 100
SKILL = ROOT / "docs" / "skills" / "zeno" / "SKILL.md"
_NAMES = re.compile(r"(?<=retrieval server \()[\w, ]*(?=\))")
_LIST = re.compile(r"(?<=<!-- operations -->\n).*?(?=<!-- end of operations -->)", re.DOTALL)


def pages() -> dict[str, str]:
    """Return every page that is made, by the name of its file."""
    return {
        "errors.md": errors_page(),
        "operations.md": operations_page(),
        "zeno-commands.md": zeno_page(),
        "normalizer-commands.md": normalizer_page(),
        "dialect.md": dialect_page(),
    }


def errors_page() -> str:
    """Return the page of codes: of refusals, of INVALID records, and of what must be said of a number."""
    code = spec.schema("zeno/error.json")["properties"]["code"]
    meanings = dict(re.findall(r"(\w+): (.+?)(?=\. \w+: |\.$)", code["description"]))
    statuses = spec.resource("rules/http.json")["statuses"]
    reasons = spec.resource("rules/reasons.json").items()
    return _join(
        "# Error codes, reason codes and flags",
        "## Zeno: why a request has no result",
        "The message of an error says what would be right this time; the code is for programs. The number is the "
        "status over HTTP.",
        _list((name, f"{meanings[name]} ({statuses[name]})") for name in code["enum"]),
        "## normalizer: why a record is INVALID",
        "Each reason has a code, a pointer into the raw document and a message. In brackets: what it blames, and the "
        "clause of the protocol.",
        _list(
            (name, f"{row['sentence']} ({BLAMES.get(row['blames'], row['blames'])}; {row['clause']})")
            for name, row in reasons
        ),
        "## normalizer: what must be said of a number",
        _list(spec.resource("rules/flags.json").items()),
    )


def operations_page() -> str:
    """Return the page of operations: what each is for, and its arguments."""
    parts = ["# Operations of Zeno", "Each is explained, with its order and caps, in [the protocol](protocol.md)."]
    for name, operation in operations().items():
        arguments = spec.schema(f"zeno/ops/{name}.json")["$defs"]["args"]
        needed = arguments.get("required", ())
        parts += [
            f"## {name}",
            operation.tool["description"],
            _list((one, _argument(schema, one in needed)) for one, schema in arguments["properties"].items()),
        ]
    return _join(*parts)


def with_operations(page: str) -> str:
    """Return the skill with the operations of today."""
    rows = (f"- `{op}`: {each.tool['description'].partition('. ')[0]}." for op, each in operations().items())
    listed = "".join(f"{textwrap.fill(row, WIDTH, subsequent_indent='  ')}\n" for row in rows)
    return _LIST.sub(lambda _: listed, _NAMES.sub(", ".join(operations()), page, count=1), count=1)


def dialect_page() -> str:
    """Return the page of dialects: every member of the document and of its parts, and an example of each kind."""
    schema = spec.schema("eval/dialect.json")
    parts = [
        "# The dialect document",
        schema["description"],
        "[Dialects](../guides/dialects.md) explains the steps. `normalizer lint --dialect FILE` checks a document.",
        _list((name, one["description"]) for name, one in schema["properties"].items()),
    ]
    for name, part in schema["$defs"].items():
        members = part["properties"].items()
        parts += [f"## {name}", part["description"], _list((each, one["description"]) for each, one in members)]
    parts.append("## Examples")
    for example in schema["examples"]:
        parts.append(example.get("description", f"The dialect {example['name']}."))
        parts.append(f"```json\n{json.dumps(example, indent=2, ensure_ascii=False)}\n```")
    return _join(*parts)


def _argument(schema: dict[str, Any], needed: bool) -> str:
    """Return what an argument is: whether it is needed or its default, and its description."""
    default = f"default `{json.dumps(schema['default'])}`" if "default" in schema else "optional"
    return f"{'required' if needed else default}. {schema.get('description', '')}".rstrip()


def zeno_page() -> str:
    """Return the page of `zeno`: every command with its arguments and flags."""
    from zeno.cli.parser import make_parser

    parser = make_parser()
    parts = ["# Commands of zeno", parser.description or ""]
    for words, inner in _parsers(parser, ("zeno",)):
        flags = (action for action in inner._actions if action.help not in (None, argparse.SUPPRESS))
        parts += [f"## {' '.join(words)}", inner.description or "", _list(map(_flag_of_argparse, flags))]
    return _join(*parts)


def _parsers(
    parser: argparse.ArgumentParser, words: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], argparse.ArgumentParser]]:
    """Yield the commands below a parser that have no commands below them."""
    inner = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if not inner:
        yield words, parser
    for action in inner:
        for name, each in action.choices.items():
            yield from _parsers(each, (*words, name))


def _flag_of_argparse(action: argparse.Action) -> tuple[str, str]:
    value = "" if action.nargs == 0 else str(action.metavar or "|".join(map(str, action.choices or ())))
    head = ", ".join(action.option_strings)
    return f"{head} {value}".strip() or action.dest, (action.help or "") % vars(action)


def normalizer_page() -> str:
    """Return the page of `normalizer`: every command with its arguments and flags."""
    from normalizer.cli import GROUPS, group

    context = click.Context(group, info_name="normalizer")
    parts = ["# Commands of normalizer", _paragraphs(group.help or "")]
    for heading, names in GROUPS.items():
        parts.append(f"## {heading}")
        for name in names:
            command = group.get_command(context, name)
            assert command is not None
            inner = click.Context(command, info_name=name, parent=context)
            rows = [row for each in command.get_params(inner) if (row := each.get_help_record(inner))]
            usage = f"`{inner.command_path} {' '.join(command.collect_usage_pieces(inner))}`"
            parts += [f"### {name}", usage, _paragraphs(command.help or ""), _list(rows)]
    return _join(*parts)


def _paragraphs(text: str) -> str:
    """Return a help text as paragraphs of Markdown; what is shown line by line is a block."""
    parts = []
    for part in text.replace("\f", "").split("\n\n"):
        lines = part.strip("\n").splitlines()
        if lines and lines[0].strip() == "\b":
            parts.append("\n".join(["```text", *(line.rstrip() for line in lines[1:]), "```"]))
        else:
            parts.append(_fill(" ".join(map(str.strip, lines)).strip()))
    return "\n\n".join(parts)


def _fill(text: str, indent: str = "") -> str:
    return textwrap.fill(text, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def _list(rows: Iterable[tuple[str, str]]) -> str:
    """Return names with what they mean as a list."""
    told = [(name, " ".join(text.split())) for name, text in rows if text and not name.endswith("--help")]
    return "\n".join(_fill(f"- `{name}`: {text}", indent="  ") for name, text in told)


def _join(*parts: str) -> str:
    """Return a page of parts. A part of one line is wrapped; headings, lists and blocks stay."""
    ready = [part if "\n" in part or part.startswith(("#", "`")) else _fill(part) for part in parts if part]
    return "\n\n".join([BANNER.rstrip(), *ready]) + "\n"


def main(argv: list[str] | None = None) -> int:
    """Write the pages, or check them: 0 in step, 1 drifted."""
    files = {ROOT / "docs" / "reference" / name: text for name, text in pages().items()}
    return write_or_check(
        __doc__, argv, {**files, SKILL: with_operations(SKILL.read_text(encoding="utf-8"))}, "nox -s generate"
    )


if __name__ == "__main__":
    raise SystemExit(main())
