"""`normalizer gate`."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from normalizer.aggregate.eligibility import Rules
from normalizer.aggregate.keys import ALSO_SELECTED, where_of
from normalizer.commands import options
from normalizer.commands.unknown_levels import suggest_levels
from normalizer.errors import CannotRun
from normalizer.gate.paired_verdicts import MISSING, GateOptions, gate, margin_of
from normalizer.gate.sides import MUST_AGREE
from normalizer.tables import gate_table
from normalizer.terminal.help_format import Command, option
from normalizer.terminal.output import WIDE, print_document, show_elapsed, write_file

_CRITERION = "criterion"
_SELECTED = (*ALSO_SELECTED, _CRITERION)
_TERMS = ("alpha", "lower_is_better", "baseline", "missing", "assume", "always_valid")


@click.command(cls=Command)
@click.argument("base", type=options.PATH)
@click.argument("candidate", type=options.PATH)
@options.add_by("Decide each group by itself, such as factors.topic.")
@option("--margin X", "The largest loss that still counts as no worse.", default="0")
@options.add_alpha("The level of each test.")
@option(
    "--measure NAME", "Total or a dimension to decide on; repeatable.", "measures", multiple=True, default=["total"]
)
@option("--baseline NAME", "Of comparisons: the generator that both sides were compared with.")
@option("--lower-is-better", "A lower score is the better one.")
@option(
    "--missing",
    "Artifacts of BASE that CANDIDATE lacks: no pass if they could turn it, the worst score, or nothing.",
    choices=MISSING,
    default="refuse",
)
@options.add_cluster("Take artifacts with the same level of this key as one item.")
@options.ASSUME
@option("--always-valid", "Let verdicts hold however often one looks while pairs are added.")
@option("--allow-undecided", "Let an undecided verdict pass.")
@options.ENGINE
@options.VERIFY
@options.WHERE
@option("--base-where KEY=LEVEL", "Only those of BASE; repeatable.", multiple=True)
@option("--candidate-where KEY=LEVEL", "Only those of CANDIDATE; repeatable.", multiple=True)
@option("--mix", "Let the sides differ in this; it is flagged; repeatable.", multiple=True, choices=MUST_AGREE)
@options.DIAGNOSTIC
@option("--junit FILE", "Write the verdicts as JUnit XML.", type=options.FILE)
@option("--markdown FILE", "Write a Markdown summary.", type=options.FILE)
@options.add_format("text", "json", "csv", "md")
@WIDE
@options.add_files
def command(base: Path, candidate: Path, form: str, junit: Path | None, markdown: Path | None, **asked: Any) -> int:
    """Decide whether CANDIDATE is better, worse or no worse than BASE, both judged the same way.

    BASE and CANDIDATE are ledgers, or files of judgements; their records are paired by artifact and judge. Ledgers of
    comparisons are compared by the rate against --baseline, paired by item, judge and order shown; the margin is one of
    that rate.

    Exit status: 0 every verdict passes (better, equivalent, or no worse within the margin), 1 one does not, 2 they
    cannot be compared.
    """
    terms = GateOptions(
        margin=margin_of(asked["margin"]),
        measures=tuple(dict.fromkeys(asked["measures"])),
        undecided_passes=asked["allow_undecided"],
        mix=frozenset(asked["mix"]),
        base_where=where_of(asked["base_where"], _SELECTED),
        candidate_where=where_of(asked["candidate_where"], _SELECTED),
        **{name: asked[name] for name in _TERMS},
    )
    try:
        base, candidate = options.open_files((base, candidate))
        chosen = options.read_options(asked, _CRITERION)
        of_base, of_candidate = (
            suggest_levels((side,), {**chosen.where, **own})
            for side, own in ((base, terms.base_where), (candidate, terms.candidate_where))
        )
        with of_base, of_candidate, show_elapsed("gate", shown=not asked["verify"]):
            rules = Rules(asked["diagnostic"], terms.mix & {"phase", "protocol_version"})
            document = gate(base, candidate, replace(chosen, rules=rules), terms)
    except CannotRun as error:
        # Files of an earlier run would say that it passed.
        _write({junit: gate_table.refusal_junit(str(error)), markdown: gate_table.refusal_summary(str(error))})
        raise
    _write({junit: gate_table.junit(document), markdown: gate_table.summary(document)})
    print_document(document, form, lambda: gate_table.table(document))
    click.echo(f"gate: {document['verdict']}", err=True)
    return 0 if document["verdict"] == "pass" else 1


def _write(texts: dict[Path | None, str]) -> None:
    """Write the files that were asked for. Raises CannotRun if one cannot be written."""
    for path, text in texts.items():
        if path is not None:
            write_file(path, text.encode())
