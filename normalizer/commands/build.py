"""`normalizer build`."""

import contextlib
import importlib
import io
import tomllib
from pathlib import Path
from typing import Any

import click
import contract_spec as spec

from normalizer.errors import CannotRun
from normalizer.ledger.reader import is_ledger
from normalizer.regular_files import regular_bytes
from normalizer.terminal.progress import LINE

_INPUTS = ("ledgers", "ledger", "base", "candidate", "table", "against", "gold", "preferences", "artifacts")
_OUTPUTS = ("out", "tables", "figures", "junit", "markdown")


@click.command()
@click.argument("study", type=click.Path(dir_okay=False, path_type=Path), default=Path("normalizer.toml"))
@click.option("--outside", is_flag=True, help="Let the study write results outside its own folder.")
def command(study: Path, outside: bool) -> int:
    """Run the steps of a study file and write their results.

    STUDY is a TOML file, normalizer.toml by default. Exit status: 0 every step ended with 0, 1 a step found something,
    2 a step could not run; steps before it are done.
    """
    document = _read(study)
    home = study.resolve().parent
    results = home / document["out"]
    for around in filter(is_ledger, (results, *results.parents)):
        raise CannotRun(f"{results} is in the ledger {around}, which only normalize writes to: name another out")
    if not outside:
        _require_inside(document, home, results)
    status = 0
    for number, step in enumerate(document["step"], start=1):
        LINE.prefix = f"step {number} of {len(document['step'])}, {step['run']}: "
        try:
            found = _done(number, step, document.get("defaults", {}), home, results)
        finally:
            LINE.prefix = ""
        click.echo(f"step {number}, {step['run']}: {('done', 'found something')[found]}", err=True)
        status = max(status, found)
    return status


def _read(study: Path) -> dict[str, Any]:
    try:
        document = tomllib.loads(regular_bytes(study).decode())
    except FileNotFoundError:
        raise CannotRun(f"there is no study file {study}: `normalizer docs report` has one to copy") from None
    except OSError as error:
        raise CannotRun(f"cannot read {study}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CannotRun(f"{study} is not TOML: {error}") from None
    try:
        violations = spec.violations("eval/study.json", document)
    except (TypeError, ValueError):
        raise CannotRun(f"{study} has a value that is neither text, a number, a boolean nor a list of text") from None
    for violation in violations:
        raise CannotRun(f"{study}: {violation.pointer or 'the file'} {violation.message}")
    return document


def _require_inside(document: dict[str, Any], home: Path, results: Path) -> None:
    """Raise CannotRun if a result would lie outside the study's folder: the study may come from another person."""
    written = [results]
    for given in (document.get("defaults", {}), *document["step"]):
        for name in ("to", *_OUTPUTS):
            values = given.get(name, [])
            written += [results / str(value) for value in (values if isinstance(values, list) else [values])]
    # A folder for tables or figures may hold links already.
    for path in [results, *(each for top in written[1:] for each in (top, *top.resolve().rglob("*")))]:
        if not path.resolve().is_relative_to(home):
            raise CannotRun(f"{path} is outside the study's folder {home}: with --outside it is written all the same")


def _done(number: int, step: dict[str, Any], defaults: dict[str, Any], home: Path, results: Path) -> int:
    """Run a step; returns 0 or 1."""
    run: click.Command = importlib.import_module(f"normalizer.commands.{step['run'].replace('-', '_')}").command
    known = {name: parameter for parameter in run.params for name in _names(parameter)}
    given = {name: value for name, value in defaults.items() if name in known}
    # `to` is the file for what a command prints, unless the command has an option of that name: that of export.
    printed = None if "to" in known else step.get("to")
    given |= {name: value for name, value in step.items() if name != "run" and (name != "to" or printed is None)}
    for name in given:
        if name not in known:
            names = ", ".join(sorted(known))
            raise CannotRun(f"step {number}: {step['run']} has no {name}: it has {names}")
    results.mkdir(parents=True, exist_ok=True)
    options: list[str] = []
    arguments: dict[str, list[str]] = {}
    for name, value in given.items():
        texts = [_place(name, text, home, results) for text in (value if isinstance(value, list) else [value])]
        parameter = known[name]
        if isinstance(parameter, click.Argument):
            arguments[str(parameter.name)] = [str(text) for text in texts]
        elif value is True:
            options.append(f"--{name.replace('_', '-')}")
        elif value is not False:
            options += [f"--{name.replace('_', '-')}={text}" for text in texts]
    ordered = [text for parameter in run.params for text in arguments.get(str(parameter.name), [])]
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            status = run.main([*options, "--", *ordered], prog_name=step["run"], standalone_mode=False)
        except click.ClickException as error:
            raise CannotRun(f"step {number}, {step['run']}: {error.format_message()}") from None
    if printed is not None:
        path = results / printed
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(out.getvalue(), encoding="utf-8")
    return int(status or 0)


def _names(parameter: click.Parameter) -> list[str]:
    if isinstance(parameter, click.Argument):
        return [str(parameter.name)]
    return [flag.removeprefix("--").replace("-", "_") for flag in parameter.opts]


def _place(name: str, value: Any, home: Path, results: Path) -> Any:
    if name in _INPUTS:
        return home / str(value)
    return results / str(value) if name in _OUTPUTS else value
