"""`normalizer judge`: call a judge, write only what it would be given, or rebuild a run from its stored replies."""

import sys
from pathlib import Path
from typing import Any

import click
import contract_spec as spec

from normalizer.commands import options
from normalizer.documents.lossless import dumps
from normalizer.documents.settings import BUILT_IN_RUBRIC, load
from normalizer.errors import CannotRun
from normalizer.judge.calling.call_loop import list_pending
from normalizer.judge.calling.calls import visible
from normalizer.judge.describe import describe_judge, estimate, make_judge
from normalizer.judge.legs import Leg, refuse_with_legs
from normalizer.judge.plan import Plan, plan
from normalizer.judge.prepare import Documents, begin, inputs
from normalizer.judge.replay import replay
from normalizer.judge.run import CallLimits, Result, ask_all
from normalizer.judge.run_folder import RunFolder, input_name, pretty, sha256
from normalizer.ledger.reader import hold_lock
from normalizer.ledger.recovery import make_and_lock
from normalizer.regular_files import document_bytes
from normalizer.terminal.help_format import Command, option


@click.command(cls=Command)
@click.argument("run", type=options.PATH, metavar="RUN.json")
@option("--packet", "Write what the judge would be given into --out, and call no judge.")
@option("--replay", "RUN.json is a run's folder: rebuild its bundle and compare.", "again")
@option(
    "--artifacts DIR",
    "The folder below which the evaluated files lie.",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
)
@option(
    "--out PATH",
    "The run's folder; with --packet a new folder; with --replay a file for the rebuilt bundle.",
    type=options.PATH,
)
@option("--rubric FILE", "The scoring scale.  [default: prompt-drift-v1]", type=options.FILE)
@option("--command COMMAND", "A judge that is a program: input on stdin, reply on stdout.", "program")
@option("--endpoint URL", "A judge behind an OpenAI-compatible chat endpoint, such as https://HOST/v1.")
@option("--model NAME", "The model to ask; with --command, the name under which the judge is recorded.")
@option("--parameters JSON", 'Further members of each request: a JSON object, such as {"temperature": 0}.')
@option("--key-env NAME", "The variable that holds the key.", default="OPENAI_API_KEY")
@option("--pass-key", "Let the program of --command see the variable of --key-env.")
@option("--attempts N", "The most replies to ask for, for each file.", type=click.IntRange(1), default=1)
@option("--jobs N", "Calls at a time.", type=click.IntRange(1), default=4)
@option("--timeout X", "Seconds.", type=click.FloatRange(0, min_open=True), default=300.0)
@option(
    "--retries N",
    "Tries after a status 429 or 5xx, a broken connection or a timeout.",
    type=click.IntRange(0),
    default=5,
)
@option(
    "--back-off X",
    "Seconds before the first retry, doubled for each further one; a Retry-After header comes first.",
    type=click.FloatRange(0),
    default=1.0,
)
@option("--max-reply N", "The most bytes of a usable reply.", type=click.IntRange(1), default=1 << 20)
@option("--partial", "Write a bundle of the usable replies where some are missing.")
@option("--leg NAME", "Go on with another judge where the run has no usable reply, under this name.")
@option(
    "--coincidence TEXT",
    "A string of the manifest that stands in your rubric (or --parameters) as an ordinary word. May be repeated.",
    multiple=True,
)
@option("--dry-run", "Check everything and print calls and sizes; call no judge, write nothing.")
def command(run: Path, packet: bool, again: bool, artifacts: Path | None, out: Path | None, **options: Any) -> int:
    """Call a judge for each file of the manifest RUN.json, and write one raw judge bundle.

    The judge is given the file's content, the rules, the scale and the task that the manifest states, and nothing
    else. Everything it was given and replied is kept in the run's folder; the same command goes on where a run was
    cut. With --leg another judge is asked about the files without a usable reply, in legs/NAME of the run's folder.
    Exit status: 0 the bundle is written, 1 some file has no usable reply and there is no bundle, 2 it could not run,
    130 Ctrl-C stopped it.

    With --packet the inputs are named by their place in the manifest: inputs/0000.json is for its first file. Each
    is checked to hold the file's content, the rules, the scale and the stated task, and no string of the manifest
    besides.

    With --replay every stored input and reply is checked against its hash, and every input for leaks. Exit status: 0
    the same bytes, 1 other bytes or no bundle, 2 a stored file is missing or was changed.
    """
    if packet and again:
        raise click.UsageError("--packet and --replay are two things: give one")
    if again:
        return _replay(run, out)
    for name, value in (("artifacts", artifacts), ("out", out)):
        if value is None:
            raise click.UsageError(f"Missing option '--{name}'.")
    assert artifacts is not None and out is not None  # noqa: S101, PT018 - both are given
    documents = _read_documents(run, options["rubric"])
    return (_write_packet if packet else _call)(documents, artifacts, out, options)


def _write_packet(documents: Documents, artifacts: Path, out: Path, options: dict[str, Any]) -> int:
    """Write what a judge would be given for each file of the manifest, without calling one."""
    planned = _make_plan(documents, options["model"], options["coincidence"])
    if out.exists() and any(out.iterdir()):
        raise CannotRun(f"{out} is not empty: give --out a new folder")
    folder = RunFolder(out)
    made = inputs(planned, artifacts, lambda index, data: folder.write(input_name(index), data))
    for index, one in enumerate(made):
        click.echo(f"{one.input_sha256}  {out / input_name(index)}")
    return 0


def _replay(folder: Path, out: Path | None) -> int:
    """Rebuild the bundle of a run from its stored replies, and compare it with the one that was written."""
    if not folder.is_dir():
        raise CannotRun(f"{folder} is no folder: --replay takes the folder of a judge run")
    run = RunFolder(folder)
    with hold_lock(folder, "read"):
        data, missing, note = replay(run)
        written = run.read(run.bundle.name) if run.bundle.exists() else None
    if note is not None:
        click.echo(f"note: {note}", err=True)
    if data is None:
        for name in missing:
            click.echo(f"no usable reply for {dumps(name)}", err=True)
        click.echo("differs: there is a bundle, but not every file has a usable reply" if written else "no bundle")
        return 1
    if out is not None:
        try:
            out.write_bytes(data)
        except OSError as error:
            raise CannotRun(f"cannot write {out}: {error.strerror}") from None
    if written == data:
        click.echo(f"the same: {sha256(data)}")
        return 0
    if written is None:
        click.echo(f"no bundle was written; rebuilt, it is {sha256(data)}")
    else:
        differing = (at for at, pair in enumerate(zip(written, data, strict=False)) if pair[0] != pair[1])
        at = next(differing, min(len(written), len(data)))
        click.echo(
            f"differs from byte {at} (line {data[:at].count(10) + 1}) on: "
            f"written {sha256(written)}, rebuilt {sha256(data)}"
        )
    return 1


def _call(documents: Documents, artifacts: Path, out: Path, options: dict[str, Any]) -> int:
    """Call the judge for each file that has no usable reply yet, and write the bundle."""
    described = describe_judge(options)
    run = RunFolder(out)
    run.refuse_unknown_files()
    leg = None if options["leg"] is None else Leg(run, options["leg"], documents, described)
    if leg is not None:
        run, documents = leg.folder, leg.documents
    planned = _make_plan(documents, described.get("model"), options["coincidence"], described.get("parameters"))
    if options["dry_run"]:
        return _dry_run(run, planned, artifacts, options["attempts"])
    with make_and_lock(out):
        if leg is None:
            refuse_with_legs(run)
        else:
            leg.close_the_run()
        hashes = begin(run, planned, described, documents, artifacts, leg.description if leg else None)
        result = ask_all(
            run,
            planned,
            described["kind"],
            hashes,
            lambda: make_judge(options),
            CallLimits(options["attempts"], options["jobs"], options["partial"]),
            sys.stderr,
        )
    return _print_result(run, result)


def _print_result(run: RunFolder, result: Result) -> int:
    """Print how many files have a usable reply and where the bundle is; return the exit status."""
    _say(
        f"files: {result.files}, {result.files - len(result.missing)} of them with a usable reply, "
        f"{len(result.missing)} without; replies: {result.replies}"
    )
    for name, why in result.missing.items():
        _say(f"no usable reply for {dumps(name)}: {why}")
    if result.partial is not None:
        click.echo(f"{sha256(result.partial)}  {run.partial}")
        _say(
            f"partial: {result.files - len(result.missing)} of {result.files} files; normalize it with the run's "
            "manifest, so that the others are reported as file_without_entry"
        )
        return 1
    if result.bundle is None:
        more = f", and with --attempts {result.most + 1} also where its replies cannot be used" if result.most else ""
        _say(f"no bundle was written; the same command asks again where the judge did not answer{more}")
        return 1
    click.echo(f"{sha256(result.bundle)}  {run.bundle}")
    return 0


def _dry_run(run: RunFolder, planned: Plan, artifacts: Path, attempts: int) -> int:
    made = inputs(planned, artifacts, lambda _index, _data: None)
    kept = (
        [run.read_kept(index, one.input_sha256) for index, one in enumerate(made)]
        if run.has_begun
        else [[] for _ in made]
    )
    waiting = list_pending(kept, attempts)
    for line in estimate(made, waiting, attempts, sum(len(kept[index]) for index in waiting)):
        click.echo(line)
    return 0


def _say(text: str) -> None:
    click.echo(visible(text), err=True)


def _read_documents(manifest: Path, rubric: Path | None) -> Documents:
    """Read the manifest and the rubric; without one, the built-in rubric. Raises CannotRun."""
    built_in = pretty(spec.resource(BUILT_IN_RUBRIC))
    return Documents(document_bytes(manifest), built_in if rubric is None else document_bytes(rubric))


def _make_plan(
    documents: Documents,
    model: str | None,
    coincidence: tuple[str, ...],
    parameters: dict[str, Any] | None = None,
) -> Plan:
    """Plan a run, and print what its prompt has in common with the manifest. Raises CannotRun."""
    settings = load(documents.rubric, documents.manifest)
    planned = plan(settings, model, parameters=parameters, declared=frozenset(coincidence))
    if planned.coincidences:
        names = ", ".join(map(dumps, planned.coincidences))
        click.echo(f"note: also ordinary text of rules, scale or task: {names}", err=True)
    return planned
