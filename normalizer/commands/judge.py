"""`normalizer judge`."""

import sys
from pathlib import Path
from typing import Any

import click

from normalizer.commands.packet import (
    artifacts_option,
    coincidence_option,
    manifest_argument,
    plan_of,
    read_documents,
    rubric_option,
)
from normalizer.documents.lossless import dumps
from normalizer.judge.calling.call_loop import pending
from normalizer.judge.calling.calls import Judge, visible
from normalizer.judge.estimate import estimate
from normalizer.judge.legs import Leg, refuse_with_legs
from normalizer.judge.plan import Plan
from normalizer.judge.prepare import begin, inputs
from normalizer.judge.run import CallLimits, ask_all
from normalizer.judge.run_folder import RunFolder, sha256
from normalizer.ledger.recovery import made_and_locked


@click.command()
@manifest_argument
@artifacts_option
@click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="The run's folder.")
@rubric_option
@click.option("--command", "program", help="A judge that is a program: input on stdin, reply on stdout.")
@click.option("--endpoint", help="A judge behind an OpenAI-compatible chat endpoint, such as https://HOST/v1.")
@click.option("--model", help="The model to ask; with --command, the name under which the judge is recorded.")
@click.option("--parameters", help='Further members of each request: a JSON object, such as {"temperature": 0}.')
@click.option("--key-env", default="OPENAI_API_KEY", show_default=True, help="The variable that holds the key.")
@click.option("--pass-key", is_flag=True, help="Let the program of --command see the variable of --key-env.")
@click.option(
    "--attempts",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="The most replies to ask for, for each file.",
)
@click.option("--jobs", type=click.IntRange(1), default=4, show_default=True, help="Calls at a time.")
@click.option("--timeout", type=click.FloatRange(0, min_open=True), default=300.0, show_default=True, help="Seconds.")
@click.option(
    "--retries",
    type=click.IntRange(0),
    default=5,
    show_default=True,
    help="Tries after a status 429 or 5xx, a broken connection or a timeout.",
)
@click.option(
    "--back-off",
    type=click.FloatRange(0),
    default=1.0,
    show_default=True,
    help="Seconds before the first retry, doubled for each further one; a Retry-After header comes first.",
)
@click.option(
    "--max-reply", type=click.IntRange(1), default=1 << 20, show_default=True, help="The most bytes of a usable reply."
)
@click.option("--partial", is_flag=True, help="Write a bundle of the usable replies where some are missing.")
@click.option("--leg", help="Go on with another judge where the run has no usable reply, under this name.")
@coincidence_option
@click.option(
    "--dry-run", is_flag=True, help="Check everything and print calls and sizes; call no judge, write nothing."
)
def command(
    manifest: Path,
    artifacts: Path,
    out: Path,
    rubric: Path | None,
    leg: str | None,
    coincidence: tuple[str, ...],
    dry_run: bool,
    **options: Any,
) -> int:
    """Call a judge for each file of the manifest RUN.json, and write one raw judge bundle.

    The judge is given the file's content, the rules, the scale and the task that the manifest states, and nothing
    else. Everything it was given and replied is kept in the run's folder; the same command goes on where a run was
    cut. With --leg another judge is asked about the files without a usable reply, in legs/NAME of the run's folder.
    Exit status: 0 the bundle is written, 1 some file has no usable reply and there is no bundle, 2 it could not run,
    130 Ctrl-C stopped it.
    """
    described = _described(options)
    documents = read_documents(manifest, rubric)
    run = RunFolder(out)
    run.refuse_strangers()
    begun = None if leg is None else Leg(run, leg, documents, described)
    if begun is not None:
        run, documents = begun.folder, begun.documents
    planned = plan_of(documents, described.get("model"), coincidence, described.get("parameters"))
    if dry_run:
        return _dry_run(run, planned, artifacts, options["attempts"])
    with made_and_locked(out):
        if begun is None:
            refuse_with_legs(run)
        else:
            begun.close_the_run()
        hashes = begin(run, planned, described, documents, artifacts, begun.description if begun else None)
        result = ask_all(
            run,
            planned,
            described["kind"],
            hashes,
            lambda: _judge(options),
            CallLimits(options["attempts"], options["jobs"], options["partial"]),
            sys.stderr,
        )
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


def _described(options: dict[str, Any]) -> dict[str, Any]:
    """Return the judge as the run records it."""
    if (options["program"] is None) == (options["endpoint"] is None):
        raise click.UsageError("give a judge: either --command or --endpoint with --model")
    model = {} if options["model"] is None else {"model": options["model"]}
    if options["program"] is not None:
        if options["parameters"] is not None:
            raise click.UsageError("--parameters goes with --endpoint")
        return {"kind": "command", "command": options["program"], **model}
    if not model:
        raise click.UsageError("--endpoint needs --model")
    from normalizer.judge.calling.endpoint import address, parameters_of, recorded_url

    parameters = parameters_of(options["parameters"])
    return {
        "kind": "endpoint",
        "endpoint": recorded_url(address(options["endpoint"])),
        **model,
        "parameters": parameters,
    }


def _judge(options: dict[str, Any]) -> Judge:
    if options["program"] is not None:
        from normalizer.judge.calling.command import CommandJudge

        withheld = None if options["pass_key"] else options["key_env"]
        return CommandJudge(
            options["program"], timeout=options["timeout"], max_reply=options["max_reply"], withheld=withheld
        )
    from normalizer.judge.calling.endpoint import EndpointJudge, Tries, address, parameters_of

    return EndpointJudge(
        address(options["endpoint"]),
        options["model"],
        parameters_of(options["parameters"]),
        Tries(options["timeout"], options["retries"], options["back_off"]),
        max_reply=options["max_reply"],
        jobs=options["jobs"],
        key_env=options["key_env"],
    )


def _dry_run(run: RunFolder, planned: Plan, artifacts: Path, attempts: int) -> int:
    made = inputs(planned, artifacts, lambda _index, _data: None)
    kept = [run.kept(index, one.input_sha256) for index, one in enumerate(made)] if run.begun else [[] for _ in made]
    waiting = pending(kept, attempts)
    for line in estimate(made, waiting, attempts, sum(len(kept[index]) for index in waiting)):
        click.echo(line)
    return 0


def _say(text: str) -> None:
    click.echo(visible(text), err=True)
