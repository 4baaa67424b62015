"""Investigate a function of a tree through MCP, as an agent would: print each call, its answer, and what they cost.

The client knows nothing of the server but `tools/list`: it finds its tools by the arguments they take, reads the text
that a model reads, and makes each next call from the answer before, its hints and its last line. The questions: where
is the function defined, what does it rest on, who calls it, which tests cover it, and is another name used anywhere?
"""

import argparse
import asyncio
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tools.bench.mcp_tokens import call, connect, tokens

_ROW = re.compile(r"^>? *(\d+)\t(.*)$")
_CLIPPED = re.compile(r"^…|…( \[goes on to line \d+\])?$")
_LAST = re.compile(r"^\[(.*)\]$")
_CURSOR = re.compile(r'continue with cursor="([^"]+)"')
_NEXT_LINE = re.compile(r"continue with start_line=(\d+)")
_REQUEST = re.compile(r"request (\S+)$")
_QUOTED = re.compile(r"'([^']+)'")
_CALLED = re.compile(r"(?<![.\w])([A-Za-z_]\w{3,})\(")
# Pages of one answer that are asked for, and lines of a definition that is read without an outline.
MAX_PAGES = 3
MAX_BODY = 60


class Step(NamedTuple):
    """One call and its answer."""

    why: str
    tool: str
    args: dict[str, Any]
    text: str


class LinePlace(NamedTuple):
    """A line of a file, as an answer shows it."""

    path: str
    line: int
    text: str


def places(text: str) -> list[LinePlace]:
    """Return the numbered lines of an answer, each with the path above it."""
    found, path = [], ""
    for row in text.split("\n"):
        numbered = _ROW.match(row)
        if numbered:
            found.append(LinePlace(path, int(numbered[1]), _CLIPPED.sub("", numbered[2])))
        elif row != "--" and not _LAST.match(row) and not row.startswith("hint: "):
            path = row.partition(": lines ")[0]
    return found


def last_line(text: str) -> str:
    """Return the line about completeness, without its brackets."""
    return next((found[1] for row in reversed(text.split("\n")) if (found := _LAST.match(row))), "")


def hints(text: str) -> list[str]:
    """Return the hints of an answer."""
    return [row.removeprefix("hint: ") for row in text.split("\n") if row.startswith("hint: ")]


class Investigator:
    """Asks, follows hints and continuations, and keeps the transcript."""

    def __init__(self, client: Any, tools: list[dict[str, Any]]) -> None:
        self._client = client
        self.steps: list[Step] = []
        takes = {tool["name"]: set(tool["inputSchema"]["properties"]) for tool in tools}
        self.search = _with(takes, "pattern", "context")
        self.list = _with(takes, "glob", "sort")
        self.read = _with(takes, "path", "start_line", "max_lines")
        self.outline = _with(takes, "max_symbols", "paths")
        self.check = _with(takes, "citations")
        self.claim = _with(takes, "claim", "evidence") if any("claim" in names for names in takes.values()) else ""

    async def ask(self, why: str, tool: str, **args: Any) -> str:
        """Call a tool and return the text of its answer."""
        text = await call(self._client, tool, args)
        self.steps.append(Step(why, tool, args, text))
        return text

    async def search_as_hinted(self, why: str, **args: Any) -> str:
        """Search, and once more as the hints say: with regex, multiline or the glob that they name."""
        text = await self.ask(why, self.search, **args)
        for hint in hints(text):
            for word in ("regex", "multiline"):
                if f"set {word} to true" in hint:
                    return await self.ask(f"the hint says to set {word}", self.search, **args, **{word: True})
        return text

    async def pages(self, why: str, **args: Any) -> list[LinePlace]:
        """Search and follow the cursor for a few pages."""
        text = await self.ask(why, self.search, **args)
        found = places(text)
        for _ in range(MAX_PAGES - 1):
            cursor = _CURSOR.search(last_line(text))
            if not cursor:
                break
            text = await self.ask("the last line says that there is more", self.search, **args, cursor=cursor[1])
            found += places(text)
        return found

    async def read_on(self, why: str, **args: Any) -> list[LinePlace]:
        """Read a file, and once more where the last line says to continue."""
        text = await self.ask(why, self.read, **args)
        found = places(text)
        more = _NEXT_LINE.search(last_line(text))
        if more:
            found += places(await self.ask("it was cut", self.read, **{**args, "start_line": int(more[1])}))
        return found

    @property
    def request_id(self) -> str | None:
        """The id of the last answer, which a claim can cite; None where there is no trace."""
        found = _REQUEST.search(last_line(self.steps[-1].text))
        return found[1] if found else None


def _with(takes: dict[str, set[str]], *names: str) -> str:
    """Return the tool that takes these arguments."""
    return next(tool for tool, known in sorted(takes.items()) if known.issuperset(names))


async def investigate(agent: Investigator, name: str, absent: str) -> None:
    """Find out about a function, and whether another name is used anywhere."""
    await agent.ask("what is here?", agent.list, tree=True, depth=1)
    text = await agent.search_as_hinted(f"where is {name} defined?", pattern=rf"^\s*def {name}\b.*")
    definition = next(iter(places(text)), None)
    if definition is None:
        return
    body = await _body(agent, definition)
    await _rests_on(agent, name, body)
    callers = await _callers(agent, name, definition)
    await _tests(agent, name)
    text = await agent.ask(f"is {absent} used anywhere?", agent.search, pattern=absent, include_hidden=True)
    where = "nothing uses"
    if "skipped " in last_line(text):
        # Files that were not searched may have it: ask only about those that can be searched.
        where = "no Python file uses"
        args = {"pattern": absent, "include_hidden": True, "paths": ["**/*.py"]}
        await agent.ask("not complete: is it used in Python files?", agent.search, **args)
    nothing = agent.request_id
    cited = [definition, *callers[:2]]
    citations = [{"path": one.path, "start_line": one.line, "end_line": one.line, "text": one.text} for one in cited]
    await agent.ask("do my citations stand?", agent.check, citations=citations)
    if agent.claim and nothing:
        evidence = [{key: value for key, value in one.items() if key != "text"} for one in citations]
        await agent.ask("write it down", agent.claim, claim=f"{name} is defined and called here", evidence=evidence)
        await agent.ask("write it down", agent.claim, claim=f"{where} {absent}", answers=[nothing])


async def _body(agent: Investigator, definition: LinePlace) -> list[LinePlace]:
    """Outline the file of a definition, and read the definition up to the next one."""
    text = await agent.ask("what else does this file define?", agent.outline, paths=[definition.path])
    starts = [one.line for one in places(text) if one.line > definition.line]
    end = min([*starts, definition.line + MAX_BODY]) - 1
    args = {"path": definition.path, "start_line": definition.line, "end_line": max(end, definition.line)}
    found = places(await agent.ask("how does it work?", agent.read, **args))
    return [one._replace(path=definition.path) for one in found]


async def _rests_on(agent: Investigator, name: str, body: Sequence[LinePlace]) -> None:
    """Look up what the function calls first."""
    called = [one for line in body[1:] for one in _CALLED.findall(line.text) if one != name]
    for one in list(dict.fromkeys(called))[:2]:
        await agent.ask(
            f"it calls {one}: where is that?", agent.search, pattern=rf"^\s*(class|def) {one}\b", regex=True, max_hits=5
        )


async def _callers(agent: Investigator, name: str, definition: LinePlace) -> list[LinePlace]:
    """Find the calls outside of tests, by file and then by line, and read around the first of them."""
    await agent.ask("which files use it?", agent.search, pattern=name, output="files", max_hits=40)
    args = {"pattern": rf"\b{name}\(", "regex": True, "max_hits": 4, "exclude_dirs": ["tests", "test"]}
    found = await agent.pages("who calls it?", **args)
    callers = [one for one in found if not one.text.lstrip().startswith(("def ", "class "))]
    several = await agent.search_as_hinted("are there calls over several lines?", pattern=f"{name}(\n", max_hits=3)
    callers += [one for one in places(several) if name in one.text and one not in callers]
    if callers:
        around = [{"path": one.path, "start_line": max(1, one.line - 6), "end_line": one.line + 3} for one in callers]
        await agent.ask("what do the callers do?", agent.read, **around[0], ranges=around[1:4] or around[:1])
        elsewhere = next((one for one in callers if one.path != definition.path), callers[0])
        await agent.read_on("how does that file begin?", path=elsewhere.path, max_lines=40)
    return callers


async def _tests(agent: Investigator, name: str) -> None:
    """Find the tests that name the function, in the files that look like tests, and read one of them."""
    glob = "test_*.py"
    text = await agent.ask("which files are tests?", agent.list, glob=glob, max=10)
    for hint in hints(text):
        quoted = _QUOTED.search(hint)
        if quoted and quoted[1].startswith("**/"):
            glob = quoted[1]
            await agent.ask("the hint names a glob", agent.list, glob=glob, max=10)
            break
    text = await agent.ask(
        "which tests cover it?", agent.search, pattern=name, paths=[glob, "**/tests.py"], context=2, max_hits=5
    )
    for one in places(text):
        if name in one.text and not one.text.startswith(("from ", "import ")):
            first = max(1, one.line - 10)
            await agent.ask("what does it check?", agent.read, path=one.path, start_line=first, end_line=one.line + 10)
            return


async def run(root: Path, name: str, absent: str, log: Path | None) -> tuple[str, list[Step]]:
    """Start a server on the tree and investigate; return the list of tools as JSON, and the steps."""
    flags = ["--root", str(root), *(["--log", str(log)] if log else [])]
    async with connect([sys.executable, "-m", "zeno", "mcp", *flags]) as (client, tools):
        agent = Investigator(client, tools)
        await investigate(agent, name, absent)
        return json.dumps(tools), agent.steps


def main(argv: Sequence[str] | None = None) -> int:
    """Investigate, and print the transcript and its cost. Ends with 1 if fewer than 15 requests came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", type=Path, required=True, metavar="DIR", help="a real tree with Python files")
    parser.add_argument("--name", required=True, help="the function to find out about")
    parser.add_argument("--absent", default="no_such_name_anywhere", help="a name that nothing should use")
    parser.add_argument("--log", type=Path, metavar="FILE", help="write a trace, and claims into it")
    parser.add_argument("--characters", action="store_true", help="count characters only; tokens need npm")
    options = parser.parse_args(argv)
    tools, steps = asyncio.run(run(options.tree.resolve(), options.name, options.absent, options.log))
    calls = [json.dumps({"name": step.tool, "arguments": step.args}) for step in steps]
    texts = [tools, *calls, *(step.text for step in steps)]
    counts = list(map(len, texts)) if options.characters else tokens(texts)
    unit = "characters" if options.characters else "tokens"
    sent, got = counts[1 : 1 + len(steps)], counts[1 + len(steps) :]
    for number, (step, asked, answered) in enumerate(zip(steps, sent, got, strict=True), 1):
        print(f"## {number}. {step.why}\n{step.tool} {json.dumps(step.args)}   ({asked} -> {answered} {unit})\n")
        print(step.text, end="\n\n")
    print(f"{len(steps)} requests; {unit}: tools/list {counts[0]}, calls {sum(sent)}, answers {sum(got)}")
    return 0 if len(steps) >= 15 else 1


if __name__ == "__main__":
    sys.exit(main())
