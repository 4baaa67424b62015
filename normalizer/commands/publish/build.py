"""`normalizer build`."""

import contextlib
import io
import signal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from normalizer.commands import options
from normalizer.documents.study_file import analysis_of, digest_analysis, read_study
from normalizer.errors import CannotRun
from normalizer.export.results_folder import ResultsFolder, is_result_name, require_result_name
from normalizer.terminal.help_format import Command, option
from normalizer.terminal.output import LINE, print_note

_INPUTS = (
    *("ledgers", "ledger", "base", "candidate", "table", "gold", "preferences", "rubric", "artifacts", "signature"),
    *("signers", "study", "attested", "frozen", "bundles", "manifest", "join", "dialect", "recipe_file"),
)
_OUTPUTS = ("out", "tables", "figures", "junit", "markdown", "attest", "datasheet")


@click.command(cls=Command)
@click.argument("study", type=options.FILE, default=Path("normalizer.toml"))
@option("--freeze", "Print the digest of the analysis and stop; no data are needed.")
@option("--outside", "Let the study write results outside its own folder.")
def command(study: Path, outside: bool, freeze: bool) -> int:
    """Run the steps of a study file, from raw files to checked tables, and write their results.

    STUDY is a TOML file, normalizer.toml by default. A step `normalize` makes a ledger below the study's results; later
    steps name it as every input, relative to the study file. With `frozen`, it says whether the analysis is the one
    whose digest was stated.

    Exit status: 0 every step ended with 0, 1 a step found something, 2 a step could not run; steps before it are done.
    """
    document = read_study(study)
    if freeze:
        return _freeze(study, document)
    home = study.resolve().parent
    out = (home / document["out"]).resolve()
    _require_names(document, home, out, outside=outside)
    results = ResultsFolder(out)
    status = _tell_frozen(study, document)
    for number, step in enumerate(document["step"], start=1):
        interrupt = signal.getsignal(signal.SIGINT)  # `normalize` ignores it while it changes a ledger
        LINE.prefix = f"step {number} of {len(document['step'])}, {step['run']}: "
        try:
            found = _run_step(number, step, document.get("defaults", {}), home, results)
        finally:
            LINE.prefix = ""
            if signal.getsignal(signal.SIGINT) is not interrupt:
                signal.signal(signal.SIGINT, interrupt)
        click.echo(f"step {number}, {step['run']}: {('done', 'found something')[found]}", err=True)
        status = max(status, found)
    return status


def _tell_frozen(study: Path, document: dict[str, Any]) -> int:
    """Say whether the analysis is the frozen one, where one is stated. Return 1 if it is another."""
    if "frozen" not in document:
        return 0
    if document["frozen"] == digest_analysis(document):
        print_note("the analysis is the frozen one")
        return 0
    print_note(
        f"the analysis is not the frozen one: its digest is {digest_analysis(document)}, and {study} states "
        f"{document['frozen']}. Undo the change of its steps, or report it with the results"
    )
    return 1


def _freeze(study: Path, document: dict[str, Any]) -> int:
    """Print the digest of the analysis and its steps, for the study file and for others. Return 1 if it is another."""
    for step in analysis_of(document):
        options = ", ".join(f"{name} = {step[name]}" for name in sorted(step) if name != "run")
        print_note(f"{step['run']}: {options or 'no options'}")
    click.echo(f'frozen = "{digest_analysis(document)}"')
    return _tell_frozen(study, document)


def _require_names(document: dict[str, Any], home: Path, out: Path, *, outside: bool) -> None:
    """Raise CannotRun if a result would not lie below `out`, or `out` not below the study's folder."""
    if out.is_relative_to(home):
        if not is_result_name(out.relative_to(home).as_posix()):
            raise CannotRun(f"out must be a folder of its own below {home}, none that is hidden: {out}")
    elif not outside:
        raise CannotRun(f"{out} is outside the study's folder {home}: with --outside it is written all the same")
    for given in (document.get("defaults", {}), *document["step"]):
        for name in ("to", *_OUTPUTS):
            values = given.get(name, [])
            for value in values if isinstance(values, list) else [values]:
                require_result_name(str(value))


def _run_step(number: int, step: dict[str, Any], defaults: dict[str, Any], home: Path, results: ResultsFolder) -> int:
    """Run a step in an empty folder, and move what it wrote to the results. Return 0 or 1."""
    root = click.get_current_context().find_root()
    run = root.command.get_command(root, step["run"]) if isinstance(root.command, click.Group) else None
    if run is None:
        raise CannotRun(f"step {number}: no command is called {step['run']}")
    known = {name: parameter for parameter in run.params for name in _names(parameter)}
    given = {name: value for name, value in _defaults_for(step, defaults, known).items() if name in known}
    # `to` is the file for what a command prints, unless the command has an option of that name: that of export.
    printed = None if "to" in known else step.get("to")
    given |= {name: value for name, value in step.items() if name != "run" and (name != "to" or printed is None)}
    for name in given:
        if name not in known:
            names = ", ".join(sorted(known))
            raise CannotRun(f"step {number}: {step['run']} has no {name}: it has {names}")
    if step["run"] == "normalize":
        given["out"] = str(results.claim_ledger(str(given.get("out", "ledger"))))
    for name, parameter in known.items():
        if parameter.required and not any(other in given for other in _names(parameter)):
            raise CannotRun(f"step {number}: {step['run']} needs {name}: write {name} = ... below its run")
    argv = _arguments(run, known, given, home)
    out = io.StringIO()
    with TemporaryDirectory(prefix="normalizer-") as scratch:
        with contextlib.redirect_stdout(out), contextlib.chdir(scratch):
            for name in (name for name in _OUTPUTS if isinstance(given.get(name), str)):
                Path(given[name]).parent.mkdir(parents=True, exist_ok=True)
            try:
                status = run.main(argv, prog_name=step["run"], standalone_mode=False)
            except click.ClickException as error:
                raise CannotRun(f"step {number}, {step['run']}: {error.format_message()}") from None
            except CannotRun:
                results.take(Path(scratch))  # a gate that could not decide has written why
                raise
        if printed is not None:
            path = Path(scratch, printed)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(out.getvalue(), encoding="utf-8")
        results.take(Path(scratch))
    return int(status or 0)


def _arguments(run: click.Command, known: dict[str, click.Parameter], given: dict[str, Any], home: Path) -> list[str]:
    """Return what a step gives its command: inputs below the study's folder, results below the folder it runs in."""
    options: list[str] = []
    arguments: dict[str, list[str]] = {}
    for name, value in given.items():
        texts = [_place(name, str(text), home) for text in (value if isinstance(value, list) else [value])]
        parameter = known[name]
        if isinstance(parameter, click.Argument):
            arguments[str(parameter.name)] = texts
        elif value is True:
            options.append(f"--{name.replace('_', '-')}")
        elif value is not False:
            options += [f"--{name.replace('_', '-')}={text}" for text in texts]
    ordered = [text for parameter in run.params for text in arguments.get(str(parameter.name), [])]
    return [*options, "--", *ordered]


def _place(name: str, text: str, home: Path) -> str:
    """Return a path as the step has to give it. A dialect may also be the name of a shipped one."""
    if name not in _INPUTS or (name == "dialect" and not (home / text).is_file()):
        return text
    return str(home / text)


def _defaults_for(step: dict[str, Any], defaults: dict[str, Any], known: dict[str, click.Parameter]) -> dict[str, Any]:
    """Return the defaults of a step. Where its command takes one ledger, the only one of `ledgers` is it."""
    ledgers = defaults.get("ledgers")
    is_asked = "ledger" in known and "ledger" not in defaults and "study" not in step
    return (
        {**defaults, "ledger": ledgers[0]} if is_asked and isinstance(ledgers, list) and len(ledgers) == 1 else defaults
    )


def _names(parameter: click.Parameter) -> list[str]:
    if isinstance(parameter, click.Argument):
        return [str(parameter.name)]
    return [flag.removeprefix("--").replace("-", "_") for flag in parameter.opts]
