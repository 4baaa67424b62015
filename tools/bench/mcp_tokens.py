"""Cost of 30 lookups for a model: characters and tokens of our MCP server beside two servers from npm, on a real tree.

The two others are the MCP project's filesystem server and a ripgrep server; together they can do what ours does, so
each lookup goes to whichever of them answers it with less. The lookups are made from the tree by rule: definitions and
uses of classes and functions, files by name, whole files, ranges of lines. Tokens are counted with the o200k vocabulary
of gpt-tokenizer, over the text that a client shows to its model. Prints one row a kind of lookup, and totals.
"""

import argparse
import asyncio
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tools.node import install

Call = tuple[str, dict[str, Any]]
_DEFINITION = re.compile(r"^\s*(?:class|def) (\w{6,})", re.MULTILINE)
_COUNT = """
const {encode} = require('gpt-tokenizer/encoding/o200k_base');
const texts = JSON.parse(require('fs').readFileSync(0, 'utf8'));
console.log(JSON.stringify(texts.map(text => encode(text, {allowedSpecial: 'all'}).length)));
"""


class Lookup(NamedTuple):
    """One thing to find out: how ours is asked, and how each of the others can be."""

    kind: str
    ours: Call
    filesystem: Call | None
    ripgrep: Call | None


def lookups(root: Path) -> list[Lookup]:
    """Thirty lookups made from the Python files of a tree."""
    files = [path for path in sorted(root.rglob("*.py")) if path.stat().st_size < 60_000]
    texts = {path: path.read_text(errors="replace") for path in files}
    names = Counter(name for text in texts.values() for name in _DEFINITION.findall(text))
    ranked = sorted(names, key=lambda name: (names[name], name))
    picked = [ranked[len(ranked) * place // 20] for place in range(1, 20)]
    long = [path for path in files if texts[path].count("\n") > 300]
    short = [path for path in files if 20 < texts[path].count("\n") < 120]
    where = {"path": str(root)}
    result = []
    for name in picked[:6]:
        asked = {"pattern": rf"^\s*(class|def) {name}\b"}
        theirs = ("search", {**asked, **where, "caseSensitive": True})
        result.append(Lookup("definition", ("grep", {**asked, "regex": True}), None, theirs))
    for name in picked[6:12]:
        theirs = ("search", {"pattern": name, **where, "caseSensitive": True, "maxResults": 40})
        result.append(Lookup("uses", ("grep", {"pattern": name, "max_hits": 40}), None, theirs))
    for name in picked[12:16]:
        around = {"pattern": f"{name}(", "context": 2}
        theirs = ("advanced-search", {**around, **where, "fixedStrings": True, "maxResults": 10})
        result.append(Lookup("uses with context", ("grep", {**around, "max_hits": 10}), None, theirs))
    for path in _spread(files, 4):
        others = ("search_files", {**where, "pattern": f"**/{path.name}"})
        theirs = ("list-files", {**where, "filePattern": path.name})
        result.append(Lookup("files by name", ("list_files", {"glob": f"**/{path.name}"}), others, theirs))
    for path in _spread(short, 5):
        asked = {"path": str(path.relative_to(root))}
        result.append(Lookup("whole file", ("read_file", asked), ("read_text_file", {"path": str(path)}), None))
    for number, path in enumerate(_spread(long, 5)):
        first = 60 + 30 * number
        lines = {"path": str(path.relative_to(root)), "start_line": first, "end_line": first + 39}
        # The filesystem server knows beginnings and ends only.
        head = ("read_text_file", {"path": str(path), "head": first + 39})
        result.append(Lookup("40 lines", ("read_file", lines), head, None))
    return result


def _spread(items: Sequence[Path], count: int) -> list[Path]:
    return [items[len(items) * number // count] for number in range(count)]


async def ask(command: Sequence[str], calls: Sequence[Call | None]) -> tuple[str, list[str | None]]:
    """Return the list of tools of an MCP server as JSON, as a client gets it, and the text of each call."""
    from mcp import Client, StdioServerParameters
    from mcp.client.stdio import stdio_client

    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    parameters = StdioServerParameters(command=command[0], args=list(command[1:]), env={**os.environ, "PATH": path})
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        async with Client(stdio_client(parameters, errlog=nowhere)) as client:
            tools = (await client.list_tools()).model_dump(by_alias=True, exclude_none=True, mode="json")["tools"]
            answers = [None if one is None else await client.call_tool(*one) for one in calls]
    texts = [None if one is None else "\n".join(getattr(part, "text", "") for part in one.content) for one in answers]
    return json.dumps(tools), texts


def tokens(texts: list[str]) -> list[int]:
    """How many tokens each text has."""
    folder = install().parent
    done = subprocess.run(["node", "-e", _COUNT], input=json.dumps(texts), capture_output=True, text=True, cwd=folder)
    if done.returncode:
        raise OSError(done.stderr)
    counts: list[int] = json.loads(done.stdout)
    return counts


def main(argv: Sequence[str] | None = None) -> int:
    """Ask all three servers and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", type=Path, required=True, metavar="DIR", help="a real tree with Python files")
    parser.add_argument("--show", action="store_true", help="also print our answers")
    options = parser.parse_args(argv)
    root = options.tree.resolve()
    asked = lookups(root)
    folder = install()
    zeno = [sys.executable, "-m", "zeno", "mcp", "--root", str(root)]
    our_tools, ours = asyncio.run(ask(zeno, [one.ours for one in asked]))
    files_tools, by_files = asyncio.run(
        ask([str(folder / "mcp-server-filesystem"), str(root)], [one.filesystem for one in asked])
    )
    rg_tools, by_rg = asyncio.run(ask([str(folder / "mcp-ripgrep")], [one.ripgrep for one in asked]))
    theirs = [min((text for text in pair if text is not None), key=len) for pair in zip(by_files, by_rg, strict=True)]
    texts = [our_tools, files_tools + rg_tools, *(text or "" for text in ours), *theirs]
    counted = dict(zip(texts, tokens(texts), strict=True))
    print(f"{'':20} {'ours':>18} {'filesystem+ripgrep':>20}   (characters, tokens)")
    rows: dict[str, list[int]] = {"tools/list": _cost([our_tools], [files_tools + rg_tools], counted)}
    for kind in dict.fromkeys(one.kind for one in asked):
        places = [place for place, one in enumerate(asked) if one.kind == kind]
        pair = [ours[place] or "" for place in places], [theirs[place] for place in places]
        rows[f"{kind} ({len(places)})"] = _cost(*pair, counted)
    rows["30 lookups"] = [sum(row[column] for name, row in rows.items() if name != "tools/list") for column in range(4)]
    for name, row in rows.items():
        print(f"{name:20} {row[0]:>10} {row[1]:>7} {row[2]:>12} {row[3]:>7}")
    if options.show:
        for one, text in zip(asked, ours, strict=True):
            print(f"\n## {one.ours[0]} {json.dumps(one.ours[1])}\n{text}")
    return 0


def _cost(ours: list[str], theirs: list[str], counted: dict[str, int]) -> list[int]:
    return [
        sum(map(len, ours)),
        sum(counted[text] for text in ours),
        sum(map(len, theirs)),
        sum(counted[text] for text in theirs),
    ]


if __name__ == "__main__":
    sys.exit(main())
