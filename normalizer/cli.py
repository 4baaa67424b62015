"""The command line: run a subcommand and turn its outcome into an exit status.

0: all is well. 1: it ran and found something. 2: it could not run. 130: Ctrl-C. Each subcommand is a module of
`normalizer.commands`, imported only when it is used.
"""

import importlib
import io
import os
import signal
import sys
from difflib import get_close_matches
from typing import Any

import click

from normalizer.errors import CannotRun, Interrupted, did_you_mean
from normalizer.tables.formats import printable
from normalizer.terminal.help_format import describe_parameter, write_text
from normalizer.terminal.output import LINE

INTERRUPTED = 128 + signal.SIGINT
"""The status after Ctrl-C."""

GROUPS = {
    "Read": {
        "normalize": "turn judge bundles or files of other tools into eval_records, in a ledger",
        "guess": "propose a dialect for a file, with what it would make of the first rows",
        "dialects": "list the shipped dialects for files of other tools, or print one to copy",
    },
    "Judge": {
        "lint": "find mistakes in rubrics, manifests, dialects and schemas before a run is paid for",
        "judge": "call a judge for each file of a manifest, and write one raw judge bundle",
    },
    "Look": {
        "list": "list records and unreadable bundles: id, file, judge, reason, source",
        "explain": "show a record, its reasons and the lines of the raw bundle they point at",
        "restore": "write a bundle's raw bytes, or rebuild them from its records",
    },
    "Trust": {
        "audit": "check that nothing is lost or forged: ledger, claims, evidence, signature, study",
        "repair": "complete a run that was cut, or rebuild a damaged ledger from its raw bundles",
        "sign": "sign a ledger with an SSH key, for those you publish it to",
    },
    "Numbers": {
        "aggregate": "mean, spread and interval by group, and how far they depend on what is missing",
        "compare": "compare generators or other levels on pairs, with a test and a verdict",
        "agreement": "how well judges agree, their severity, and what they add for their own model",
        "preferences": "win rates, order effects, ratings and length bias of comparisons",
        "calibrate": "compare judges with human or reference labels",
        "plan": "how noisy judges are when asked again, and how many items the next study needs",
        "gate": "decide from two ledgers whether a candidate is better, worse or no worse than a base",
    },
    "Publish": {
        "check": "check cell by cell whether a published table follows from a ledger",
        "report": "write one self-contained page with numbers, plots and the records behind them",
        "export": "write records as JSON lines, CSV, Parquet, Inspect logs or Every Eval Ever documents",
        "build": "run a study file, normalizer.toml, from raw files to checked tables",
        "docs": "print a page of the documentation",
    },
}
"""The commands under headings, in the order of the work. Each is `normalizer.commands.HEADING.NAME:command`."""

UNLISTED = ("completion", "man")
"""Commands that a package or a shell's start-up file runs, and no list shows."""

COMMANDS = {name: about for listed in GROUPS.values() for name, about in listed.items()}
_ROOMS = {name: heading.lower() for heading, listed in GROUPS.items() for name in listed}


_OTHER_WORDS = {
    "convert": "normalize",
    "diff": "compare",
    "import": "normalize",
    "mean": "aggregate",
    "show": "explain",
    "statistics": "aggregate",
    "stats": "aggregate",
    "summarize": "aggregate",
    "summary": "aggregate",
    "validate": "audit",
    "verify": "audit",
}
"""Words that people know from other programs, and the commands that do the like."""


def _other_word(name: str) -> str | None:
    """Return the command that a word of other programs stands for, also one with a slip in it."""
    if get_close_matches(name, COMMANDS, 1):
        return None
    near = get_close_matches(name, _OTHER_WORDS, 1, 0.8)
    return _OTHER_WORDS[near[0]] if near else None


def load_command(name: str) -> click.Command:
    """Import a command."""
    module = importlib.import_module(f"normalizer.commands.{_ROOMS.get(name, 'shell')}.{name}")
    command: click.Command = module.command
    return command


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click asks so
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS and cmd_name not in UNLISTED:
            if ctx.resilient_parsing:  # while a shell completes a line
                return None
            meant = f"did you mean {near}?" if (near := _other_word(cmd_name)) else did_you_mean(cmd_name, COMMANDS)
            raise click.UsageError(f"no command is called {cmd_name}: {meant}", ctx)
        return load_command(cmd_name)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click asks so
        write_text(formatter, self.help or "")

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click asks so
        write_text(formatter, self.epilog or "")

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click asks so
        width = max(map(len, COMMANDS))
        for heading, listed in GROUPS.items():
            with formatter.section(heading):
                rows = [(name.ljust(width), f"{about[0].upper()}{about[1:]}.") for name, about in listed.items()]
                formatter.write_dl(rows)


def _print_version(ctx: click.Context, _: click.Parameter, asked: bool) -> None:
    """Print the version of the package, then the identifier of the protocol, which runs record, and end."""
    if asked:
        from importlib.metadata import version

        from normalizer.documents import protocol

        click.echo(f"normalizer {version('zeno-normalizer')}\nprotocol {protocol.version()}")
        ctx.exit()


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Begin with normalizer docs normalizer; all pages are listed by normalizer docs. "
    'Completions: eval "$(normalizer completion bash)". Manual page: normalizer man | man -l -',
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the versions of program and protocol.",
)
def group() -> None:
    """Turn judge bundles and files of other evaluation tools into canonical eval_records: lossless, checked, kept."""


def main(argv: list[str] | None = None) -> int:
    """Run one subcommand and return its exit status.

    `normalize` blocks SIGINT before it changes the ledger. The handler is restored here, because this process may go
    on.
    """
    interrupt = signal.getsignal(signal.SIGINT)
    try:
        return _main(argv)
    finally:
        if signal.getsignal(signal.SIGINT) is not interrupt:
            signal.signal(signal.SIGINT, interrupt)


def _main(argv: list[str] | None = None) -> int:
    try:
        status = group.main(argv, prog_name="normalizer", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as error:
        error.show(sys.stderr)
        return 2
    except click.ClickException as error:
        LINE.clear()
        _tell_misuse(error)
        return 2
    except Interrupted as error:
        _cannot(str(error))
        return INTERRUPTED
    except CannotRun as error:
        return _cannot(str(error))
    except (click.Abort, KeyboardInterrupt):
        _cannot("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of standard output closed it early, as `head` does: not an error.
        _forget_output()
        return 0
    except RuntimeError as error:
        # Python before 3.13 says so of a link that leads to itself.
        if not str(error).startswith("Symlink loop"):
            raise
        return _cannot(str(error))
    except OSError as error:
        try:
            sys.stdout.flush()
        except OSError:
            _forget_output()
        return _cannot(f"{error.filename or 'standard output'}: {error.strerror or error}")
    return int(status or 0)


def _tell_misuse(error: click.ClickException) -> None:
    """Say in two lines what is wrong with the words of a command, as `zeno` does."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    path = context.command_path if context is not None else "normalizer"
    message = " ".join((_say_misuse(error).rstrip(".") + _suggest_choice(error)).split())
    # It may quote an argument, and a shell puts names of files there.
    print(printable(f"{path}: error: {message[:1].lower()}{message[1:]}"), file=sys.stderr)
    print(f"Try '{path} --help'.", file=sys.stderr)


def _say_misuse(error: click.ClickException) -> str:
    """Return what is wrong; of a word that is missing also what it takes, and of an unknown flag the one meant."""
    if isinstance(error, click.MissingParameter) and error.param is not None and error.ctx is not None:
        name, about = describe_parameter(error.param, error.ctx)
        return f"missing {error.param.param_type_name} {name}: {about}"
    if isinstance(error, click.NoSuchOption):
        names = [name for each in error.ctx.command.params for name in each.opts] if error.ctx else []
        near = did_you_mean(error.option_name, [name for name in names if name.startswith("--")], "see --help")
        return f"no such option {error.option_name}; {near}"
    return error.format_message()


def _suggest_choice(error: click.ClickException) -> str:
    """Return the end of a message about a value that is no choice: the one that was probably meant."""
    if (
        not isinstance(error, click.BadParameter)
        or error.param is None
        or not isinstance(error.param.type, click.Choice)
    ):
        return ""
    given = error.message.split("'")[1:2]
    near = get_close_matches(given[0], [str(choice) for choice in error.param.type.choices], 1) if given else []
    return f"; did you mean {near[0]}?" if near else ""


def _forget_output() -> None:
    """Point standard output to /dev/null, so that flushing it at exit does not fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _cannot(why: str) -> int:
    """Print an error as one line, with unprintable characters replaced, and return the exit status 2."""
    LINE.clear()
    print(f"normalizer: {printable(why)}", file=sys.stderr)
    return 2


def run() -> None:
    """The console script. After Ctrl-C the process ends by that signal: a shell then stops its script, too."""
    _open_standard_streams()
    status = _main()
    if status == INTERRUPTED:
        sys.stdout.flush()
        sys.stderr.flush()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    sys.exit(status)


def _open_standard_streams() -> None:
    """Open standard streams that the caller closed, so that no file of a ledger gets their descriptors.

    Output to a closed stream goes to /dev/null. Reading a closed standard input is reported where it is read.
    """
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(number, True)
    os.close(number)
    sys.stderr = sys.stderr or open(2, "w", closefd=False)  # noqa: SIM115 - as long as the process
    told = sys.stdout or open(1, "w", closefd=False)  # noqa: SIM115 - as long as the process
    sys.stdout = io.TextIOWrapper(
        io.BufferedWriter(_Output(1, "w", closefd=False)),
        encoding=told.encoding,
        errors=told.errors,
        line_buffering=told.isatty(),
    )


class _Output(io.FileIO):
    """Standard output that ignores a closed pipe. Otherwise click would exit with 1, which means that something was
    found."""

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            return memoryview(data).nbytes
