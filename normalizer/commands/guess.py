"""`normalizer guess`."""

import shlex
from pathlib import Path

import click

from normalizer.batch.intake import open_bundle
from normalizer.containers import guess, shipped
from normalizer.containers.guess import Proposal
from normalizer.containers.mapping import MappedEntry
from normalizer.containers.readers.rows import MAX_ROW_BYTES
from normalizer.documents.lossless import dumps
from normalizer.tables.formats import printable

_SHOWN = 3
_TOLD = ("file", "scores", "item", "a", "b", "verdict", "order", "judge")
"""Fields of an entry that are shown."""
_STATED = {"judge": "judge_model", "b": "baseline"}
"""Fields of a comparison, and what states them where rows lack them."""


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
def command(file: Path) -> int:
    """Propose a dialect for a file, with what it would make of the first rows. Nothing is normalized.

    Where no shipped dialect finds a score, a draft is printed, to be checked and completed by hand. Exit status 1 when
    not even a draft can be made.
    """
    with open_bundle(str(file)) as stream:
        found = guess.proposals(stream)
        if found:
            click.echo("\n".join(map(printable, _told(file, found))))
            return 0
        stream.seek(0)
        data = stream.read(MAX_ROW_BYTES)
    shown = printable(str(file))
    if guess.is_bundle(data):
        click.echo(f"{shown} is a judge bundle and needs no dialect: normalizer normalize {shown} --out LEDGER")
        return 0
    made = guess.draft(data)
    if made is None:
        click.echo(f"no rows were found in {shown}: see `normalizer dialects` and `normalizer docs dialects`", err=True)
        return 1
    click.echo(f"no shipped dialect finds a score in {shown}; a draft, to be checked and completed by hand:", err=True)
    click.echo(guess.dialect_text(made))
    return 0


def _told(file: Path, found: list[Proposal]) -> list[str]:
    lines = [
        f"{'dialect':<16}{'entries':>8}{'scored':>8}{'off scale':>11}{'failed':>8}   of the first {guess.ROWS} rows"
    ]
    lines += [
        f"{p.name:<16}{len(p.entries):>8}{p.scored:>8}{p.off_scale:>11}{p.failed:>8}"
        + (f"   with --container {shlex.quote(p.container)}" if p.container else "")
        for p in found
    ]
    best = found[0]
    lines += ["", f"{best.name} would make:"]
    lines += [f"  {_entry(entry)}" for entry in best.entries[:_SHOWN]]
    known = {name for entry in best.entries for name in entry.metadata}
    known |= {name for key, name in _STATED.items() if all(key in entry.value for entry in best.entries)}
    needs = [name for name in shipped.dialect_named(best.name).get("needs", []) if name not in known]
    other = f" --container {shlex.quote(best.container)}" if best.container else ""
    scale = " --rubric FILE" if best.off_scale else ""
    stated = "".join(f" --set {name}=..." for name in needs)
    command = f"normalizer normalize {shlex.quote(str(file))} --dialect {best.name}{other}{scale}{stated} --out LEDGER"
    lines += ["", command]
    if best.off_scale:
        lines.append(f"The scale of {best.name} is not that of this file: write yours as a rubric.")
    return lines


def _entry(made: MappedEntry) -> str:
    value = {key: made.value[key] for key in _TOLD if key in made.value}
    failed = "".join(f"  {problem.code}: {problem.message}" for problem in made.problems[:1])
    return f"{dumps({**value, **made.metadata})}{failed}"
