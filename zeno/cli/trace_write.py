"""The commands that write to a trace: a recording around a command, and one event at a time."""

import argparse
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import contract_spec as spec

from zeno.cli.policy_flags import policy_of
from zeno.cli.printing import print_json, safe
from zeno.errors import CannotRun
from zeno.files.policy import Policy
from zeno.files.roots import Nested
from zeno.options import read_roots
from zeno.results.seals import NotRecorded
from zeno.text.path_names import decode_word
from zeno.trace.events import KINDS, read
from zeno.trace.recorder import POLICY, ROOT, SUBCALL, TRACE, Recorder, policy_of_environment

# No line number has more digits, and Python refuses to parse very long numbers.
_MAX_DIGITS = 16


@contextmanager
def _recorder(options: argparse.Namespace) -> Iterator[Recorder]:
    log = options.log or os.environ.get(TRACE)
    if not log:
        raise CannotRun(f"no trace to write to: give --log, or run under zeno trace record, which sets {TRACE}")
    # ZENO_SUBCALL is an id in the trace of ZENO_TRACE and in no other.
    inside = os.environ.get(SUBCALL) if os.path.abspath(log) == os.environ.get(TRACE) else None
    try:
        root = "\n".join(options.root or ()) or os.environ.get(ROOT)
        recorder = Recorder(log, root, options.parent or inside, policy=_policy(options))
    except (Nested, NotRecorded) as error:
        raise CannotRun(str(error)) from None
    except OSError as error:
        raise CannotRun(f"cannot open {error.filename!r}: {os.strerror(error.errno or 0)}") from None
    with recorder:
        try:
            yield recorder
        except NotRecorded as error:
            raise CannotRun(str(error)) from None
        except OSError as error:
            raise CannotRun(f"the log cannot be written: {os.strerror(error.errno or 0)}") from None


def _policy(options: argparse.Namespace) -> Policy | None:
    """Return the policy of the flags, or that of the recording around this command, which flags cannot replace."""
    around = policy_of_environment()
    # Only commands that read the tree have the flags.
    given = policy_of(options) if hasattr(options, "deny") else None
    if given is None or not given.active:
        return around
    if around is not None:
        raise CannotRun(f"the recording has a policy already, in {POLICY}; leave out --deny and --only")
    return given


def claim(options: argparse.Namespace) -> int:
    """Add a claim."""
    cited: list[dict[str, Any]] = []
    for text in options.evidence:
        path, _, lines = text.rpartition(":")
        first, dash, last = lines.partition("-")
        last = last if dash else first
        if not path or not all(number.isdecimal() and len(number) <= _MAX_DIGITS for number in (first, last)):
            raise CannotRun(f"{text!r} is not PATH:FIRST-LAST; cite lines, as in src/app.py:3-7 or src/app.py:3")
        cited.append({"path": decode_word(path), "start_line": int(first), "end_line": int(last)})
    for text in options.symbol:
        path, _, name = text.partition(":")
        if not path or not name:
            raise CannotRun(f"{text!r} is not PATH:NAME; cite a definition, as in src/app.py:Session.renew")
        cited.append({"path": decode_word(path), "symbol": name})
    search = _search(options)
    if options.rev is not None:
        for one in (*cited, *([] if search is None else [search])):
            one["rev"] = options.rev
    with _recorder(options) as recorder:
        event = recorder.claim(options.claim, cited, answers=options.answer, search=search, id=options.id)
    if options.format == "json":
        print_json(event)
    return 0


def _search(options: argparse.Namespace) -> dict[str, Any] | None:
    """Return what the flags say of a search, or None."""
    kind = next((kind for kind in ("occurs", "absent", "defines") if getattr(options, kind) is not None), None)
    if kind is None:
        if options.where or options.regex:
            raise CannotRun("--in and --regex belong to --occurs or --absent; give one of these with a pattern")
        return None
    search: dict[str, Any] = {"type": kind, "name" if kind == "defines" else "pattern": getattr(options, kind)}
    if options.regex:
        search["regex"] = True
    if options.where:
        search["paths"] = [decode_word(path) for path in options.where]
    return search


def start(options: argparse.Namespace) -> int:
    """Add the start of a subcall and print its id."""
    with _recorder(options) as recorder:
        name = recorder.start(options.task, id=options.id)
    print_json({"id": name}) if options.format == "json" else print(name)
    return 0


def end(options: argparse.Namespace) -> int:
    """Add the end of a subcall."""
    with _recorder(options) as recorder:
        event = recorder.end(options.id, options.outcome)
    if options.format == "json":
        print_json(event)
    return 0


def append(options: argparse.Namespace) -> int:
    """Add the events on standard input."""
    written, refused = 0, []
    with _recorder(options) as recorder:
        for number, line in enumerate(sys.stdin.buffer, 1):
            if not line.strip():
                continue
            try:
                value = spec.parse(line, max_depth=64)
                recorder.append(value if isinstance(value, dict) else {"event": None})
                written += 1
            except (spec.NotStrictJson, NotRecorded) as error:
                refused.append({"line": number, "message": str(error)})
                print(f"zeno: line {number} not written: {safe(str(error))}", file=sys.stderr)
    if options.format == "json":
        print_json({"written": written, "refused": refused})
    return 1 if refused else 0


def record(options: argparse.Namespace) -> int:
    """Run a command inside a recording."""
    command = options.command[1:] if options.command[:1] == ["--"] else options.command
    if not command:
        raise CannotRun("no command to run; give it after --")
    if options.id is not None and options.task is None:
        raise CannotRun("--id names the subcall that --task writes down; give both")
    options.parent = None
    # Subprocesses may work in another directory.
    options.root, options.log = _absolute(options.root), os.path.abspath(options.log)
    with _recorder(options) as recorder, _Relay() as relay:
        before = os.stat(options.log).st_size
        environment = {**os.environ, TRACE: options.log, ROOT: "\n".join(options.root)}
        if (policy := _policy(options)) is not None:
            environment[POLICY] = policy.to_json()
        if os.environ.get(TRACE) != options.log:
            environment.pop(SUBCALL, None)
        name = None
        if options.task is not None:
            name = environment[SUBCALL] = recorder.start(options.task, id=options.id)
        outcome = "could not be run"
        try:
            status = relay.run(command, environment)
            outcome = f"exit status {status}"
        except OSError as error:
            raise CannotRun(f"cannot run {command[0]!r}: {os.strerror(error.errno or 0)}") from None
        finally:
            if name is not None:
                recorder.end(name, outcome)
    _tell_recorded(options, before, status)
    return status


def _absolute(roots: list[str]) -> list[str]:
    """Return the values of --root with absolute directories."""
    named = read_roots(roots)
    return [f"{name}={os.path.abspath(directory)}" for name, directory in named.items()] or [os.path.abspath(roots[0])]


class _Relay:
    """Forwards SIGTERM to the command, also one that arrives before it has started, and leaves SIGINT to it."""

    def __enter__(self) -> "_Relay":
        self._process: subprocess.Popen[bytes] | None = None
        self._told = False
        # The terminal sends SIGINT to both processes; SIGTERM arrives only here. The command inherits ignored signals,
        # so this changes nothing about which signals are ignored.
        handlers: dict[int, Callable[..., None]] = {signal.SIGINT: lambda *_: None, signal.SIGTERM: self._pass_on}
        heeded = [number for number in handlers if signal.getsignal(number) is not signal.SIG_IGN]
        self._before = {number: signal.signal(number, handlers[number]) for number in heeded}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _pass_on(self, *_: object) -> None:
        self._told = True
        if self._process is not None:
            self._process.terminate()

    def run(self, command: list[str], environment: dict[str, str]) -> int:
        """Run a command and return its exit status."""
        with subprocess.Popen(command, env=environment) as self._process:
            if self._told:
                self._process.terminate()
            status = self._process.wait()
        return status if status >= 0 else 128 - status


def _tell_recorded(options: argparse.Namespace, before: int, status: int) -> None:
    """Print the events that the command added to the trace on standard error."""
    counts = dict.fromkeys(KINDS, 0)
    with open(options.log, "rb") as stream:
        stream.seek(before)
        for entry in read(stream):
            if entry.event:
                counts[entry.event["event"]] += 1
    if options.format == "json":
        print(json.dumps({"log": options.log, "status": status, "events": counts}), file=sys.stderr)
    elif sys.stderr.isatty():
        listed = ", ".join(f"{number} {kind}" for kind, number in counts.items() if number) or "nothing"
        print(f"zeno: recorded {listed}", file=sys.stderr)
