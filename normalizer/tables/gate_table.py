"""A gate's verdicts for CI: JUnit XML, and a Markdown summary."""

from typing import Any
from xml.sax.saxutils import quoteattr

from normalizer.aggregate import keys
from normalizer.estimation.paired_test import SCALE
from normalizer.tables.formats import Cell, Table, cell_text, ends, markdown, markdown_text, p_value

_MARKS = {
    "better": "better",
    "equivalent": "equivalent within the margin",
    "no_worse": "no worse within the margin",
    "worse": "WORSE",
    "undecided": "UNDECIDED",
    "incomplete": "INCOMPLETE",
}


def table(document: dict[str, Any]) -> Table:
    """Return one row per verdict."""
    rows: list[list[Cell]] = []
    for result in document["results"]:
        cells: list[Cell] = [result["measure"], result["base"], result["candidate"], result["difference"]]
        cells += [*ends(result["interval"]), result["n"], p_value(result["p"]), _MARKS[result["verdict"]]]
        rows.append([*keys.list_levels(result["key"]), *cells])
    columns = ["measure", "base", "candidate", "difference", "low", "high", "pairs", "p", "verdict"]
    return Table([*document["by"], *columns], rows, notes(document))


def notes(document: dict[str, Any]) -> list[str]:
    """Return the notes below the verdicts: method, reasons, flags."""
    sign = "base minus candidate" if document["lower_is_better"] else "candidate minus base"
    rival = document["baseline"]
    paired = "artifact" if rival is None else "item, judge and order shown"
    said = [] if rival is None else [f"rate: wins against {keys.level(rival)}, a draw being half a win."]
    said += [
        f"Differences are {sign}, paired by {paired}; intervals at {100 * (1 - document['alpha_each']):g} % "
        f"(alpha {document['alpha']:g} over {len(document['results'])} verdicts); margin {document['margin']:f}.",
        f"An unchanged candidate is called worse in at most {50 * document['alpha_each']:g} % of runs, and one that is "
        f"worse than the margin passes in at most as many{_if_spread(document)}.",
    ]
    for result in document["results"]:
        said.append(
            f"{verdict_name(result)}: {result['why']}; {result['improved']} improved, {result['equal']} equal, "
            f"{result['worsened']} worsened{_alone(document, result)}.{_limits(result)}"
        )
    return said + _count_left_out(document) + [f"{flag}: let pass as asked." for flag in document["flags"]]


def _if_spread(document: dict[str, Any]) -> str:
    return "" if document["assume"] == SCALE else ", if the spread seen is the spread there is"


def _limits(result: dict[str, Any]) -> str:
    """Return what a verdict rests on: its items, the change it could have shown, and the losses that would turn it."""
    said = ""
    if result["items"] < result["n"]:
        said += f" {result['n']} pairs from {result['items']} items."
    if result["detectable"] is not None:
        said += f" A run like this shows a true difference of {result['detectable']:f} four times in five."
    if result["tipping_point"] is not None:
        said += f" {result['tipping_point']} more pairs with the greatest loss would undo the pass."
    if result["pairs_needed"] is not None:
        said += f" An unchanged system passes four times in five with {result['pairs_needed']} pairs."
    return said


def _alone(document: dict[str, Any], result: dict[str, Any]) -> str:
    """Return what is in no pair of a verdict, by side; empty if everything is in one."""
    what = "artifacts" if document["baseline"] is None else "items"
    sides = [(name, result[f"only_in_{name}"]) for name in ("base", "candidate")]
    told = " and ".join(f"{count} {what} of {name}" for name, count in sides if count)
    return f"; in no pair: {told}" if told else ""


def _count_left_out(document: dict[str, Any]) -> list[str]:
    """Return for each side how many of its records were left out, and why; none if all of them count."""
    said = []
    for name, counts in document["left_out"].items():
        told = ", ".join(f"{reason} {count}" for reason, count in counts.items() if count)
        if told:
            said.append(f"Left out of {name}, of {document['records'][name]} records: {told}.")
    return said


def summary(document: dict[str, Any]) -> str:
    """Return the Markdown summary."""
    return f"### Evaluation gate: {document['verdict']}\n\n{markdown(table(document))}"


def refusal_summary(why: str) -> str:
    """Return the Markdown summary of a gate that could not compare."""
    return f"### Evaluation gate: not comparable\n\n{markdown_text(why)}\n"


def refusal_junit(why: str) -> str:
    """Return JUnit XML of a gate that could not compare: one test case with an error."""
    error = f'    <error type="not_comparable" message={_attribute(why)}/>'
    return _suite(1, 0, 1, ['  <testcase classname="normalizer.gate" name="comparable">', error, "  </testcase>"])


def _suite(tests: int, failures: int, errors: int, lines: list[str]) -> str:
    """Return a document of JUnit around the lines of its test cases."""
    counts = f'tests="{tests}" failures="{failures}" errors="{errors}" skipped="0"'
    head = ['<?xml version="1.0" encoding="UTF-8"?>', f'<testsuite name="normalizer gate" {counts}>']
    return "\n".join([*head, *lines, "</testsuite>", ""])


def junit(document: dict[str, Any]) -> str:
    """Return JUnit XML with one test case per verdict."""
    results = document["results"]
    failures = sum(not result["passes"] for result in results)
    lines = []
    for result in results:
        lines.append(f'  <testcase classname="normalizer.gate" name={_attribute(verdict_name(result))}>')
        told = (
            f"{result['verdict']}: difference {cell_text(result['difference'])} on {result['n']} pairs; "
            f"{result['why']}{_alone(document, result)}"
        )
        if result["passes"]:
            lines.append(f"    <system-out>{_text(told)}</system-out>")
        else:
            lines.append(f"    <failure type={_attribute(result['verdict'])} message={_attribute(told)}/>")
        lines.append("  </testcase>")
    lines.append(f"  <system-out>{_text(chr(10).join(notes(document)))}</system-out>")
    return _suite(len(results), failures, 0, lines)


def verdict_name(result: dict[str, Any]) -> str:
    """The group and measure of a verdict."""
    levels = [f"{key}={keys.level(level)}" for key, level in result["key"].items()]
    return ", ".join([*levels, result["measure"]])


def _clean(text: str) -> str:
    """Remove characters that XML 1.0 does not allow."""
    return "".join(
        char if char in "\t\n\r" or (char >= " " and char not in "\ufffe\uffff") else "\N{REPLACEMENT CHARACTER}"
        for char in text
    )


def _attribute(text: str) -> str:
    return quoteattr(_clean(text))


def _text(text: str) -> str:
    return _clean(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
