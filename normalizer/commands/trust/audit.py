"""`normalizer audit`: whether a ledger, its claims, its evidence, its signature or a study can be trusted."""

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import click

from normalizer.api.sources import study_of
from normalizer.checks import claims as stated
from normalizer.checks import evidence
from normalizer.checks.audit import audit
from normalizer.checks.instruments import instruments
from normalizer.checks.reverify import jobs_for
from normalizer.checks.study.findings import findings
from normalizer.commands import options
from normalizer.documents import protocol
from normalizer.ledger import signature as signatures
from normalizer.ledger.reader import reading
from normalizer.tables import audit_table, formats
from normalizer.tables.formats import Table
from normalizer.terminal.help_format import Command, option
from normalizer.terminal.output import LINE, WIDE, print_document, print_note, print_table, show_elapsed


@click.command(cls=Command)
@click.argument("ledger", type=options.PATH, required=False)
@option("--claims", "Do the numbers that judges state about their own scores follow from the records?")
@option("--all", "With --claims: list claims that check out, too.", "every")
@option(
    "--artifacts DIR",
    "Is every quotation in the evaluated file below this folder (PDF, Markdown, text)? Verdicts: exact, folded, "
    "elided, other_artifact, absent, empty; not_checked where the file is missing or another one.",
    type=options.PATH,
)
@option("--signature FILE", "Is this signature of `normalizer sign` good, and of these files?", type=options.PATH)
@option("--signers FILE", "With --signature: a file with a line NAME KEY for each trusted key.", type=options.PATH)
@option("--signer NAME", "With --signature: the NAME that must have signed.")
@option("--instruments", "List the judges with their prompts and rubrics, and how often each failed.")
@option(
    "--study DIR",
    "Which defects are there between the ledgers or files of this folder: the same answer under two generators, "
    "repeated and missing rows, unlabelled self-judging and more? The worst comes first.",
    type=options.PATH,
)
@options.add_format("text", "json", "csv", "md")
@option("--jobs N", "Worker processes.  [default: one a core on ledgers over 16 MiB]", type=click.IntRange(min=1))
@option("--no-verify", "Do not normalize raw bundles again: check digests, ids and counts only.", "quick")
@WIDE
@options.add_files
def command(ledger: Path | None, study: Path | None, form: str, jobs: int | None, quick: bool, **asked: Any) -> int:
    """Count what a ledger holds by reason, judge, generator and phase, and check that nothing is lost or forged.

    Every raw bundle is normalized again under its settings, and must give the lines of the ledger. With --no-verify
    that is left out: about eight times as fast, and records that were forged together with their digests are not
    noticed. --claims, --artifacts, --signature, --instruments and --study ask another question instead; one at a time.

    Exit status: 0 all is accounted for, 1 something was found, or the ledger is of another protocol version and
    cannot be verified, 2 it could not run.
    """
    question = _choose_question(ledger, study, quick, jobs, asked)
    if study is not None:
        with study_of(study, *options.read_files_options(), print_note) as folder:
            return _print_study(folder, form)
    assert ledger is not None  # noqa: S101 - one of the two is given
    if question != "signature":
        [ledger] = options.open_files((ledger,))
    if question == "claims":
        return _print_claims(ledger, form, quick, asked["every"])
    if question == "artifacts":
        return _print_evidence(ledger, asked["artifacts"], form, quick)
    if question == "instruments":
        return _print_instruments(ledger, form)
    if question == "signature":
        return _print_signature(ledger, **{name: asked[name] for name in ("signature", "signers", "signer")})
    return _print_audit(ledger, form, jobs, quick)


def _choose_question(
    ledger: Path | None, study: Path | None, quick: bool, jobs: int | None, asked: dict[str, Any]
) -> str | None:
    """Return the name of the option that asks another question; refuse flags that do not go together."""
    if (ledger is None) == (study is None):
        raise click.UsageError("give either a LEDGER or --study DIR")
    if quick and (study is not None or jobs is not None):
        raise click.UsageError("--no-verify goes with a LEDGER, without --jobs: there is nothing to share")
    questions = [name for name in ("claims", "artifacts", "signature", "instruments") if asked[name]]
    questions += ["study"] if study is not None else []
    if len(questions) > 1:
        raise click.UsageError(f"--{questions[0]} and --{questions[1]} are two questions: ask one at a time")
    if asked["every"] and "claims" not in questions:
        raise click.UsageError("--all goes with --claims")
    given = [name for name in ("signature", "signers", "signer") if asked[name] is not None]
    if given and len(given) < 3:
        raise click.UsageError("a signature is checked with all of --signature FILE, --signers FILE and --signer NAME")
    return questions[0] if questions else None


def _print_audit(ledger: Path, form: str, jobs: int | None, quick: bool) -> int:
    with reading(ledger, checked=False) as opened, show_elapsed("audit", shown=len(opened.raw_bundles()) == 1):
        # Of one large bundle there are no parts to count.
        report = audit(opened, jobs or jobs_for(opened), LINE, verify=not quick)
    LINE.clear()
    if form == "md" or (form == "text" and sys.stdout.isatty()):
        click.echo("\n".join(audit_table.summary_lines(report)) + "\n")
        for table in audit_table.tables(report):
            print_table(table, form, nl=form == "md")
    elif form == "json":
        click.echo(formats.dumps(report))
    else:
        # Escape sequences may be part of a name: do not strip them.
        write = {"text": audit_table.text, "csv": audit_table.csv_text}[form]
        click.echo(write(report), nl=False, color=True)
    for problem in report["problems"]:
        click.echo(formats.printable(f"conservation does not hold: {problem}"), err=True)
    others = report["verified"]["not_verifiable"]
    for other in others:
        name = formats.escape_invisible(other["protocol"])
        click.echo(
            f"not verified: {other['bundles']} bundles of protocol {name}, while this program "
            f"has {protocol.version()}: normalize them again with --replace, or audit with the version that made them",
            err=True,
        )
    return 1 if report["problems"] or others else 0


def _print_claims(ledger: Path, form: str, quick: bool, every: bool) -> int:
    with reading(ledger) as opened:
        if not quick:
            options.choose_check(verify=True)(opened)
        report = stated.claims(opened)
    LINE.clear()
    if not every:
        report["claims"] = [claim for claim in report["claims"] if claim["verdict"] in ("mismatch", "not_derivable")]
    print_document(report, form, lambda: audit_table.claims_table(report))
    return 1 if report["counts"]["mismatch"] else 0


def _print_evidence(ledger: Path, artifacts: Path, form: str, quick: bool) -> int:
    report = evidence.verify(ledger, artifacts, None if quick else options.choose_check(verify=True), LINE)
    LINE.clear()
    if form in ("json", "csv"):
        print_document(report, form, lambda: audit_table.list_evidence(report))
    else:
        print_table(audit_table.count_evidence(report), form, nl=True)
        wrong = audit_table.list_wrong_evidence(report)
        if wrong.rows:
            print_table(wrong, form)
    return 0 if evidence.is_clean(report) else 1


def _print_signature(ledger: Path, signature: Path, signers: Path, signer: str) -> int:
    complaints = signatures.complaints(ledger, signature, signers, signer)
    for sentence in complaints:
        click.echo(formats.printable(sentence))
    if not complaints:
        click.echo(formats.printable(f"{ledger}: signed by {signer}, and its files are those that were signed"))
    return 1 if complaints else 0


def _print_instruments(ledger: Path, form: str) -> int:
    found = instruments((ledger,))
    if form == "json":
        click.echo(json.dumps({"instruments": found}, indent=2))
        return 0
    rows: list[list[Any]] = [list(each.values()) for each in found]
    several = [name for name, count in Counter(each["judge_model"] for each in found).items() if count > 1]
    notes = [f"{name} is several instruments: a number over them mixes them." for name in several]
    print_table(Table(list(found[0]) if found else ["judge_model"], rows, notes), form)
    return 0


def _print_study(folder: Path, form: str) -> int:
    found = findings(folder)
    if form == "json":
        click.echo(json.dumps({"findings": [finding._asdict() for finding in found]}, indent=2))
    elif form in ("csv", "md"):
        rows: list[list[Any]] = [[each.code, each.records, each.of, each.sentence] for each in found]
        print_table(Table(["code", "records", "of", "sentence"], rows, []), form)
    else:
        for finding in found:
            click.echo(f"{finding.code}: {finding.records} of {finding.of}: {finding.sentence}")
            for example in finding.examples:
                click.echo(f"  {formats.escape_invisible(example)}")
        click.echo(f"{len(found)} found" if found else "nothing found", err=True)
    return 1 if found else 0
