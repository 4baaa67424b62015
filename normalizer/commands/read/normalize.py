"""`normalizer normalize`."""

import re
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import contract_spec as spec

from normalizer.batch.intake import file_globs, sources
from normalizer.batch.run import Account, run
from normalizer.commands import options
from normalizer.containers import shipped
from normalizer.containers.mapping import Mapping
from normalizer.documents import protocol
from normalizer.documents.lossless import Number, dumps
from normalizer.documents.settings import Settings, load
from normalizer.errors import CannotRun, did_you_mean
from normalizer.regular_files import document_bytes
from normalizer.screening.metadata import phase_of
from normalizer.tables.formats import printable
from normalizer.terminal.help_format import Command, option
from normalizer.terminal.output import LINE

_MOST_JOINED = 1 << 28


@click.command(cls=Command)
@click.argument("bundles", nargs=-1, required=True, metavar="BUNDLE...")
@option("--out DIR", "The ledger's folder.", required=True, type=click.Path(file_okay=False, path_type=Path))
@option("--manifest FILE", "The run's metadata and its fixed list of files.", type=options.FILE)
@option("--rubric FILE", "The scoring scale.  [default: prompt-drift-v1]", type=options.FILE)
@option(
    "--dialect NAME|FILE",
    "How the files are written; see `normalizer dialects`.",
    multiple=True,
    callback=options.take_one,
    shell_complete=options.complete_dialects,
)
@option(
    "--container KIND",
    "How the files hold their rows, in place of what the dialect says: jsonl, csv, json or json:POINTER.",
)
@option("--join FILE", "The second file of a dialect that joins one.", type=options.FILE)
@option("--set FIELD=VALUE", "Run metadata that the files do not have; repeatable.", "stated", multiple=True)
@option("--max-bundle-bytes N", "Read bundles up to this size.  [default: 67108864]", type=click.IntRange(1, 1 << 30))
@option(
    "--max-entries N", "Read bundles of up to this many entries.  [default: 500000]", type=click.IntRange(1, 10_000_000)
)
@option("--jobs N", "Worker processes.", type=click.IntRange(min=1), default=1)
@option(
    "--engine", "Run in processes of this machine, or on Spark.", choices=["processes", "spark"], default="processes"
)
@option("--replace", "Normalize bundles again that the ledger has under other settings.")
def command(bundles: tuple[str, ...], out: Path, dialect: str | None, jobs: int, engine: str, **asked: Any) -> int:
    """Turn judge bundles, or files of other tools, into eval_records, VALID or INVALID, in a ledger.

    A BUNDLE is a file, a folder (the files below it that the dialect means, else *.json) or - for standard input.
    Exit status: 0 all is valid, 1 something is invalid or unreadable, 2 it could not run and nothing was changed.
    """
    documents = [asked[name] for name in ("manifest", "rubric", "join") if asked[name] is not None]
    if dialect is not None:
        documents.append(Path(dialect))
    limits = {name: asked[name] for name in ("max_bundle_bytes", "max_entries") if asked[name] is not None}
    settings = _read_settings(dialect, limits, asked)
    if settings.dialect is not None and settings.dialect.rows is not None:
        if limits:
            flag = "--" + next(iter(limits)).replace("_", "-")
            raise CannotRun(f"{flag} is for judge bundles, and the dialect reads rows, one by one: leave it out")
        Mapping(settings.dialect.rows, settings.joined)  # a dialect that cannot be followed is refused here
    globs = file_globs(settings.dialect.rows if settings.dialect is not None else None)
    account = run(
        sources(list(bundles), [out, *documents], globs),
        out,
        settings,
        jobs=jobs,
        engine=engine,
        replace=asked["replace"],
        progress=LINE,
        settling=_not_to_be_interrupted,
    )
    LINE.clear()
    for line in [*account.lines(), *_advice(account, settings)]:
        click.echo(printable(line), err=True)
    return 1 if account.flawed else 0


def _advice(account: Account, settings: Settings) -> Iterator[str]:
    """Say what to do if a file is no bundle and no dialect was given, if no record can enter a table, or if records of
    all generators are labelled self-judged."""
    if settings.dialect is None:
        yield from account.advise_dialect()
    if settings.reads_rows and account.done.valid and phase_of({}, settings) == 0:
        version = "" if "protocol_version" in settings.run else f" --set protocol_version={protocol.version()}"
        yield f"nothing states a phase, so these records are diagnostic and enter no table: add --set phase=1{version}"
    of_one = "judge_model" in settings.stated and "generator_model" in settings.stated
    if settings.stated.get("self_judged") is True and account.done.valid and not of_one:
        yield (
            "--set self_judged=true labels every record, whoever judged whom: --set self_judged=by_name labels those "
            "whose judge is their generator"
        )


def _not_to_be_interrupted() -> None:
    """Ignore SIGINT. A user who interrupts a run may rely on nothing having changed, so from here on it completes."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _read_settings(dialect: str | None, limits: dict[str, int], asked: dict[str, Any]) -> Settings:
    """Return the settings from files, the name of a shipped dialect, FIELD=VALUE texts, and limits."""
    document = None if dialect is None else shipped.read_dialect(dialect)
    if asked["container"] is not None:
        if document is None:
            raise CannotRun("--container goes with --dialect")
        document = shipped.in_container(document, asked["container"])
    rubric, manifest = (None if asked[name] is None else document_bytes(asked[name]) for name in ("rubric", "manifest"))
    return load(
        rubric=rubric,
        manifest=manifest,
        dialect=document,
        stated=dumps(metadata(asked["stated"])).encode() if asked["stated"] else None,
        joined=None if asked["join"] is None else dumps({"text": _text(asked["join"])}).encode(),
        limits=dumps(limits).encode() if limits else None,
    )


def _text(path: Path) -> str:
    """The text of the second file, which is held in memory several times over. Raises CannotRun if it is too large."""
    if path.is_file() and path.stat().st_size > _MOST_JOINED:
        raise CannotRun(f"{path} is larger than {_MOST_JOINED} bytes: join a file of only the rows that are needed")
    try:
        return document_bytes(path).decode("utf-8")
    except UnicodeDecodeError:
        raise CannotRun(f"{path} is not UTF-8, so it cannot be joined") from None


_WHOLE = re.compile(r"0|[1-9][0-9]*")


def metadata(given: tuple[str, ...]) -> dict[str, Any]:
    """The metadata that FIELD=VALUE texts state. A factor is `factors.NAME=LEVEL`. The schema checks it later."""
    known = list(spec.schema("eval/run_metadata.json")["properties"])
    values: dict[str, Any] = {}
    for text in given:
        field, equals, value = text.partition("=")
        if not equals:
            raise CannotRun(f"--set {text}: write FIELD=VALUE")
        group, dot, name = field.partition(".")
        if group == "factors" and dot and name:
            place, key = values.setdefault("factors", {}), name
        elif field in known and field != "factors":
            place, key = values, field
        else:
            names = [name for name in known if name != "factors"]
            hint = did_you_mean(field, [*names, "factors.NAME"])
            raise CannotRun(f"--set {field}: a run has no such field; {hint}")
        if key in place:
            raise CannotRun(f"--set {field} is given twice")
        place[key] = _convert_value(field, value)
    return values


def _convert_value(field: str, value: str) -> Any:
    if field == "phase" and _WHOLE.fullmatch(value):
        return Number(value)
    if field == "self_judged" and value in ("true", "false"):
        return value == "true"
    return value
