"""A prompt for people: operations as words, answers as text, with completion and history."""

import contextlib
import json
import os
import select
import shlex
import sys
import textwrap
import time
from collections.abc import Callable
from typing import Any

import contract_spec as spec
from contract_spec.operations import marked

from zeno.interfaces import key_value
from zeno.interfaces.colour import is_coloured, paint
from zeno.interfaces.plain_text import pairs
from zeno.interfaces.result_text import text_of
from zeno.interfaces.rows import visible
from zeno.session.dispatch import OPS
from zeno.session.server import Server

PROMPT = "zeno> "
WARMING = "(reading the tree into memory; ask when you like) "
# Seconds of reading after which WARMING is shown.
TELLING = 1.0
WORDS = ("help", "quit")
GREETING = (
    "Operations: {ops}. Type `help` or `help grep`, Tab completes, `quit` or Ctrl-D ends. While nothing is typed, the "
    "tree is read into memory."
)


class Shell:
    """A prompt on one server."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._asked = 0

    def run(self) -> int:
        """Read requests, answer them and print the answers until the input ends."""
        interactive = sys.stdin.isatty()
        with _history(self.complete) if interactive else contextlib.nullcontext():
            if interactive:
                print(GREETING.format(ops=", ".join(sorted(OPS))))
            while True:
                try:
                    if interactive:
                        self._warm_up()
                    line = input(PROMPT if interactive else "")
                except EOFError:
                    print(end="\n" if interactive else "")
                    return 0
                except KeyboardInterrupt:
                    print()
                    continue
                if line.strip() in ("quit", "exit"):
                    return 0
                print(self.reply(line), end="\n" if line.strip() else "", flush=True)

    def _warm_up(self) -> None:
        """Fill the cache until a key is pressed, with the prompt in view. After a second, say so in front of it."""
        print(PROMPT, end="", flush=True)
        begun, told = time.monotonic(), False
        while not select.select([sys.stdin], [], [], 0)[0] and self._server.idle():
            if not told and time.monotonic() - begun > TELLING:
                print(f"\r{WARMING}{PROMPT}", end="", flush=True)
                told = True
        # The line editor writes its own prompt over this one.
        print("\r" + (" " * len(WARMING + PROMPT) + "\r" if told else ""), end="", flush=True)

    def reply(self, line: str) -> str:
        """Return the text that is printed for one line."""
        try:
            words = shlex.split(line)
            if not words:
                return ""
            if words[0] == "help":
                return _help(*words[1:2])
            args = key_value.arguments(words[0], words[1:])
            return self._tell(words[0], key_value.read_on(words[0], args))
        except ValueError as error:  # from shlex, and NotAPair
            return f"cannot read this: {error}"

    def _tell(self, op: str, args: dict[str, Any]) -> str:
        answer = self._ask(op, args)
        if not answer["ok"]:
            cure = key_value.suggest_operation(op) if answer["error"]["code"] == "unknown_op" else ""
            return visible(f"{answer['error']['code']}: {answer['error']['message']}{cure}")
        result = answer["result"]
        text = text_of(op, result, args=args)
        return f"{paint(text) if is_coloured() else text}\n-- {pairs(result['metrics'])}"

    def _ask(self, op: str, args: dict[str, Any]) -> dict[str, Any]:
        self._asked += 1
        answer: dict[str, Any] = json.loads(self._server.ask(f"shell-{self._asked}", op, args).line)
        return answer

    def complete(self, line: str, word: str) -> list[str]:
        """Return completions of `word`, the last of `line`."""
        before = line[: len(line) - len(word)].split()
        if not before or before == ["help"]:
            return [f"{name} " for name in (*sorted(OPS), *WORDS) if name.startswith(word)]
        properties = key_value.arguments_of(before[0])
        paths = marked(before[0], "path") if properties else frozenset()
        key, equals, text = word.partition("=")
        if not equals:
            keys = [f"{name}=" for name in properties if name.startswith(word)]
            stands_for = key_value.further(before[0]) if len(before) > 1 else None
            is_path = (stands_for or key_value.first(before[0])) in paths
            return keys + (self._paths("", word) if is_path else [])
        if properties.get(key, {}).get("type") == "boolean":
            return [f"{key}={value}" for value in ("false", "true") if value.startswith(text)]
        return self._paths(f"{key}=", text) if key in paths else []

    def _paths(self, prefix: str, start: str) -> list[str]:
        """Return the files and directories whose paths begin with `start`, one level deeper.

        Readline prints completions as they are, so names that a terminal would obey are left out.
        """
        glob = "".join(f"[{char}]" if char in "*?[{" else char for char in start) + "*"
        hidden = any(step.startswith(".") for step in start.split("/"))
        answer = self._ask("list_files", {"glob": glob, "include_hidden": hidden})
        files = answer["result"]["files"] if answer["ok"] else []
        steps = {start + step + slash for step, slash, _ in (path[len(start) :].partition("/") for path in files)}
        return [
            prefix + shlex.quote(step) if not step.endswith("/") else prefix + step
            for step in sorted(filter(_is_safe, steps))
        ]


def _is_safe(name: str) -> bool:
    return visible(name) == name and not set("\n\t") & set(name)


def _help(op: str | None = None) -> str:
    if op is None:
        lines = [f"{name:16} {spec.schema(f'zeno/ops/{name}.json')['description']}" for name in sorted(OPS)]
        usage = "Ask with OP KEY=VALUE ..., such as: grep TODO src max_hits=5"
        return "\n".join(
            [*lines, "", usage, "Quote words with blanks: grep 'def main'. `help OP` lists the arguments."]
        )
    if op not in OPS:
        return f"no operation is called {op!r}; there are {', '.join(sorted(OPS))}"
    lines = [spec.schema(f"zeno/ops/{op}.json")["description"]]
    for name, schema in key_value.arguments_of(op).items():
        default = f" (default {json.dumps(schema['default'])})" if "default" in schema else ""
        about = f"{schema.get('description', '')}{default}"
        lines += textwrap.wrap(about, 100, initial_indent=f"  {name:16} ", subsequent_indent=" " * 19)
    return "\n".join(lines)


@contextlib.contextmanager
def _history(complete: Callable[[str, str], list[str]]) -> Any:
    """Line editing with completion, and a history that is saved."""
    import readline

    base = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    path = os.path.join(base, "zeno", "history")
    with contextlib.suppress(OSError):
        readline.read_history_file(path)
    found: list[str] = []

    def completer(word: str, state: int) -> str | None:
        if state == 0:
            found[:] = complete(readline.get_line_buffer()[: readline.get_endidx()], word)
        return found[state] if state < len(found) else None

    readline.set_completer_delims(" \t\n")
    readline.set_completer(completer)
    # libedit, which replaces readline on some systems, has its own commands.
    libedit = "libedit" in (readline.__doc__ or "")
    readline.parse_and_bind("bind ^I rl_complete" if libedit else "tab: complete")
    try:
        yield
    finally:
        readline.set_history_length(1000)
        # Ignore a home directory that cannot be written to.
        with contextlib.suppress(OSError):
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
            readline.write_history_file(path)
