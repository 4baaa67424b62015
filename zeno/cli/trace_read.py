"""The commands that read a trace: each runs one library call and prints its report as text or JSON."""

import argparse
import os
import sys
from contextlib import ExitStack
from typing import Any

from zeno.cli.printing import call, count, paint, print_json, safe, say, say_row
from zeno.cli.trace_source import TraceSource, replayer_for
from zeno.errors import CannotRun
from zeno.trace.coverage import coverage as coverage_of
from zeno.trace.coverage import totals
from zeno.trace.lint import lint as lint_all
from zeno.trace.page.view import page
from zeno.trace.replay import replay as replay_all
from zeno.trace.verify import verify as verify_all


def lint(options: argparse.Namespace) -> int:
    """Print findings about the trace. Return 1 if there are errors."""
    counts = {"error": 0, "warning": 0}
    findings = []
    with ExitStack() as stack:
        source = TraceSource(options, stack)
        for finding in lint_all(source.entries()):
            counts[finding.level] += 1
            if options.format == "json":
                findings.append(finding._asdict())
            else:
                say(f"line {finding.line}: {paint(finding.level)}: {finding.code}: {safe(finding.message)}")
    if options.format == "json":
        print_json(
            {"events": source.events, "errors": counts["error"], "warnings": counts["warning"], "findings": findings}
        )
    else:
        errors, warnings = count(counts["error"], "error"), count(counts["warning"], "warning")
        say(f"{count(source.events, 'event')}, {errors}, {warnings}")
    return 1 if counts["error"] or (options.strict and counts["warning"]) else 0


def replay(options: argparse.Namespace) -> int:
    """Run every request again and print the differences. Return 1 if there are any."""
    with ExitStack() as stack:
        source = TraceSource(options, stack)
        outcome = replay_all(*replayer_for(options, source, stack), count_times=options.times)
    counts = {name: outcome.counts[name] for name in ("same", "differs", "times", "not_run")}
    described = outcome.counts["not_run_describe"]
    differences: list[dict[str, Any]] = [
        {
            "line": one.comparison.exchange.answered,
            "id": one.comparison.exchange.id,
            "op": one.comparison.exchange.op,
            "args": one.comparison.exchange.args,
            "then": one.then,
            "now": one.now,
            "files": list(one.files),
            "files_are_suspects": one.guessed,
        }
        for one in outcome.differences
    ]
    if options.format == "json":
        print_json({**source.summary(), **counts, "not_run_describe": described, "differences": differences})
    else:
        source.print_problems()
        for index, one in enumerate(differences[:20]):
            say(f"{'first difference: ' if not index else ''}line {one['line']}: {call(one['op'], one['args'])}")
            say(f"  then {_short(one['then'])}, now {_short(one['now'])}")
            if one["files"]:
                how = "changed since, so perhaps behind it" if one["files_are_suspects"] else "the file behind it"
                say(f"  {how}: {', '.join(map(safe, one['files']))}")
            else:
                say("  no file that changed since then is there now: something may have been removed")
        if len(differences) > 20:
            say(f"... and {len(differences) - 20} more; --format json lists them all")
        say(f"{count(sum(counts.values()), 'answer')}: {counts['same']} the same, {counts['differs']} different")
        if counts["times"]:
            say(f"{counts['times']} stat not counted: they differ, but perhaps only in times (--times counts them)")
        if described:
            say(f"{described} not run again: describe, which is about the server and not about the tree")
        if refused := counts["not_run"] - described:
            say(f"{refused} not run again: refusals that came from the session, not from the request")
    return 1 if differences or source.problems or source.pairing.list_unanswered() else 0


def _short(answer: str) -> str:
    """Return a digest shortened to its first digits."""
    return answer if len(answer) < 64 else f"{answer[:19]}..."


def verify(options: argparse.Namespace) -> int:
    """Check the citations of every claim. Return 1 if one does not check out."""
    with ExitStack() as stack:
        source = TraceSource(options, stack)
        claims = list(verify_all(*replayer_for(options, source, stack, evidence_only=True)))
    good = sum(claim.checks_out for claim in claims)
    if options.format == "json":
        listed = [
            {
                "line": claim.line,
                **{name: claim.event[name] for name in ("id", "parent", "claim") if name in claim.event},
                "holds": claim.checks_out,
                "evidence": [one._asdict() for one in claim.evidence],
                "answers": [one._asdict() for one in claim.answers],
                **({} if claim.search is None else {"search": claim.search._asdict()}),
            }
            for claim in claims
        ]
        print_json({**source.summary(), "claims": listed, "hold": good})
    else:
        source.print_problems()
        for claim in claims:
            outcome = paint("checks out") if claim.checks_out else paint("FAILS", "FAILS     ")
            say(f"{outcome}  line {claim.line}: {safe(claim.event['claim'])}")
            for one in claim.evidence:
                note = f" to {one.moved_to[0]}-{one.moved_to[1]}" if one.moved_to else ""
                seen = {"delivered": "", "not_delivered": ", never delivered before", "unknown": ", delivery unknown"}
                where = f"{safe(one.path)}:{one.start_line}-{one.end_line}"
                say(f"            {one.verdict}{note}{seen[one.provenance]}  {where}")
                if one.reason:
                    say(f"            {safe(one.reason)}")
            for answer in claim.answers:
                asked = "" if answer.op is None else f": {call(answer.op, answer.args or {})}"
                found = "" if answer.found is None else f": {count(answer.found[1], answer.found[0][:-1])}"
                say(f"            {answer.verdict}  the answer {safe(answer.id)}{asked}{found}")
                if answer.coverage:
                    say(f"            {answer.coverage}")
                if answer.reason:
                    say(f"            {safe(answer.reason)}")
            if claim.search is not None:
                search = claim.search
                unit = "definition" if search.type == "defines" else "line"
                found = "" if search.lines is None else f": {count(search.lines, unit)}"
                say(f"            {search.verdict}  {search.type}: {call(search.op, search.args)}{found}")
                if search.reason:
                    say(f"            {safe(search.reason)}")
            elif not claim.evidence and not claim.answers:
                say("            it cites nothing")
        check, do = ("checks" if good == 1 else "check"), ("does" if len(claims) - good == 1 else "do")
        say(f"{count(len(claims), 'claim')}: {good} {check} out, {len(claims) - good} {do} not")
    return 1 if good < len(claims) or source.problems or (options.require_claims and not claims) else 0


def coverage(options: argparse.Namespace) -> int:
    """Print the delivered lines of each file, the searches, and the answers that were cut."""
    with ExitStack() as stack:
        source = TraceSource(options, stack)
        found = coverage_of(*replayer_for(options, source, stack))
    total = dict(totals(found.files))
    files = [file for file in found.files if file.delivered or options.all]
    if options.format == "json":
        print_json(
            {
                **source.summary(),
                **total,
                "binary_files": found.binary,
                "files_table": [file._asdict() for file in files],
                "patterns": [pattern._asdict() for pattern in found.patterns],
                "truncations": [one._asdict() for one in found.truncations],
                "unknown": found.unknown,
            }
        )
    else:
        source.print_problems()
        _print_coverage(found, files, total, options.wide)
    withheld = any(not one.continued and one.hidden != 0 for one in found.truncations)
    return 1 if withheld or found.unknown or source.problems else 0


def _print_coverage(found: Any, files: list[Any], total: dict[str, int], wide: bool) -> None:
    say(paint("head", f"{'delivered':>9} {'of lines':>8}  file"))
    for file in files:
        share = "-" if not file.total else f"{100 * file.delivered / file.total:.0f}%"
        there = "gone" if file.total is None else file.total
        ranges = " ".join(f"{first}-{last}" for first, last in file.ranges[:6]) + (
            " ..." if len(file.ranges) > 6 else ""
        )
        say_row(f"{file.delivered:>9} {there:>8}  {safe(file.path)}  {share}  {ranges}".rstrip(), wide=wide)
    say(f"{total['lines_delivered']:>9} {total['lines']:>8}  in {total['files_delivered']} of {total['files']} files")
    if found.patterns:
        say("\npatterns")
    for pattern in found.patterns:
        times = f", {len(pattern.lines)} times" if len(pattern.lines) > 1 else ""
        short = ", cut" if pattern.truncated else ""
        within = "" if pattern.files is None else f" in {count(pattern.files, 'file')}"
        say_row(f"  {call('grep', pattern.args)}: {count(pattern.hits, 'hit')}{within}{times}{short}", wide=wide)
    if found.truncations:
        say("\nwithheld by limits")
    for one in found.truncations:
        hidden = "unknown" if one.hidden is None else f"{'more than ' if one.at_least else ''}{one.hidden}"
        on = ", but gone on with" if one.continued else ""
        where = f"line {one.lines[0]}" + (f" and {len(one.lines) - 1} more" if len(one.lines) > 1 else "")
        say_row(f"  {where}: {call(one.op, one.args)}: {one.shown} {one.what} shown, {hidden} hidden{on}", wide=wide)
    if found.unknown:
        lines = ", ".join(map(str, found.unknown[:10])) + (" ..." if len(found.unknown) > 10 else "")
        say(f"\nnot counted: the tree no longer gives the answers on {lines}; what they delivered is not known")


def view(options: argparse.Namespace) -> int:
    """Write the page."""
    with ExitStack() as stack:
        source = TraceSource(options, stack)
        steps, replayer = (source.steps(), None) if options.root is None else replayer_for(options, source, stack)
        name = "standard input" if options.trace == "-" else os.path.basename(options.trace)
        data, told = page(steps, source.pairing, replayer, title=options.title or name, text=options.lines)
    if options.out == "-":
        if sys.stdout is None:
            raise CannotRun("standard output is closed; give --out a file")
        # Standard output is for the page.
        source.print_problems(lambda text: print(text, file=sys.stderr))
        sys.stdout.buffer.write(data)
        return 1 if source.problems else 0
    try:
        with open(options.out, "wb") as out:
            out.write(data)
    except OSError as error:
        raise CannotRun(f"cannot write {options.out!r}: {os.strerror(error.errno or 0)}") from None
    if options.format == "json":
        print_json({**source.summary(), "out": options.out, "bytes": len(data), **told})
    else:
        source.print_problems()
        say(f"{options.out}: {count(source.events, 'event')}, {count(told['claims'], 'claim')}, {len(data)} bytes")
        if told["text_left_out"]:
            say(f"the text of {count(told['text_left_out'], 'line')} was left out to keep the page small")
    return 1 if source.problems else 0
