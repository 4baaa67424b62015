"""The numbers of ledgers that cells are compared with: means of scores, or rates and recipes of comparisons."""

from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from normalizer.aggregate import keys
from normalizer.aggregate.engines.start import start_engine
from normalizer.aggregate.recipes import Recipe, recipes_of
from normalizer.aggregate.summary import Options, summarize
from normalizer.errors import CannotRun
from normalizer.ledger.open_ledgers import OpenLedgers, as_one, holds_comparisons, open_each
from normalizer.ledger.reader import Ledger
from normalizer.preferences.group_preferences import PreferenceOptions, preferences_of

FINE = 40
"""Decimal places of means here: enough to tell a tie from a near tie."""
GENERATOR, AGAINST = "generator", "against"
"""Keys of tables of comparisons: who was compared, and with whom."""
COMPARED_BY = (GENERATOR, AGAINST, "criterion")
"""Keys that tables of scores do not have."""
_COUNTED = ("n", "n_items", "n_records", "n_judges", "at_min", "at_max")
_SUMMARY = {"records": "n_records", "judges": "n_judges", "items": "n_items", "at min": "at_min", "at max": "at_max"}
_MOMENTS = ("sd", "min", "max", "ci95_low", "ci95_high", "ci95")
_COMPARED = ("wins", "losses", "draws", "both_bad", "missing", "items")
_RATES = {"exact95_low": "rate.ci95_low", "exact95_high": "rate.ci95_high"}
_RATES |= {"weighted95_low": "weighted.ci95_low", "weighted95_high": "weighted.ci95_high", "win_rate": "rate.mean"}


class Pairing(NamedTuple):
    """How comparisons become a table: against whom, and by which recipe of a board."""

    baseline: str | None = None
    recipe: Recipe | None = None


ALL_PAIRS = Pairing()


class GroupFigures(NamedTuple):
    """The numbers of one row."""

    key: dict[str, Any]
    counts: dict[str, int]
    measures: dict[str, dict[str, Any]]
    """Mean, sd and ci95 by the name of a measure."""
    flags: list[str]


class Figures(NamedTuple):
    """The numbers of all rows."""

    rows: list[GroupFigures]
    counts: tuple[str, ...]
    measures: list[str]
    aliases: dict[str, str]
    """Further names of statistics."""
    left_out: dict[str, int]
    diagnostic: bool


def figures(folders: tuple[Path, ...], options: Options, pairing: Pairing) -> Figures:
    """Return the numbers of ledgers of scores or of comparisons. Raises CannotRun."""
    with open_each(folders, options.check) as opened:
        return _figures([opened[folder] for folder in folders], options, pairing)


def _figures(ledgers: list[Ledger], options: Options, pairing: Pairing) -> Figures:
    compares = all(map(holds_comparisons, ledgers))
    kind = "comparisons" if compares else "scores"
    if pairing.recipe is not None and pairing.recipe.name not in recipes_of(kind):
        raise CannotRun(f"--recipe {pairing.recipe.name} is not for {kind}: those are {', '.join(recipes_of(kind))}")
    if compares:
        return _of_comparisons(ledgers, options, pairing)
    if pairing.baseline is not None:
        raise CannotRun("--baseline is for comparisons, and these ledgers hold single scores")
    return _of_scores(as_one(ledgers), replace(options, places=FINE, recipe=pairing.recipe))


def _of_scores(given: OpenLedgers, options: Options) -> Figures:
    for name in (*options.by, *options.where):
        if name in COMPARED_BY:
            raise CannotRun(f"{name} is a key of comparisons, and these ledgers hold single scores")
    with start_engine(options.engine, options.memory, given.size) as engine:
        summary = summarize(engine, given, options)
    rows = []
    for row in summary["rows"]:
        measures = {"total": row["total"]}
        measures |= {keys.dimension(name): moments for name, moments in row["dimensions"].items()}
        measures |= _recipe_score(row, "recipe.score") if options.recipe else {}
        rows.append(GroupFigures(row["key"], {name: row[name] for name in _COUNTED}, measures, row["flags"]))
    aliases = _SUMMARY | {"95 % interval": "total.ci95", "mean": "total.mean"}
    aliases |= {name: f"total.{name}" for name in _MOMENTS}
    scored = {"recipe.score": "mean", "recipe.ci95_low": "ci95_low", "recipe.ci95_high": "ci95_high", "score": "mean"}
    scored |= {"score low": "ci95_low", "score high": "ci95_high"}
    aliases |= {name: f"recipe.score.{moment}" for name, moment in scored.items()} if options.recipe else {}
    named = list(rows[0].measures) if rows else ["total"]
    return Figures(rows, _COUNTED, named, aliases, summary["left_out"], summary["diagnostic"])


def _of_comparisons(ledgers: list[Ledger], options: Options, pairing: Pairing) -> Figures:
    if GENERATOR not in options.by:
        raise CannotRun(f"comparisons are of generators: name their column with --by {GENERATOR}, or --column")
    if pairing.recipe is not None and pairing.baseline is None and AGAINST not in options.by:
        raise CannotRun(f"--recipe {pairing.recipe.name} scores generators against one: name it with --baseline")
    keys = tuple(key for key in options.by if key not in (GENERATOR, AGAINST))
    asked = PreferenceOptions(
        by=keys,
        where=options.where,
        baseline=pairing.baseline,
        recipe=pairing.recipe,
        rules=options.rules,
    )
    document = preferences_of(ledgers, asked)
    rows = []
    for group in document["groups"]:
        paired = pairing.baseline is not None or AGAINST in options.by
        told = [
            ({**group["key"], GENERATOR: row.get("a", row.get("generator")), AGAINST: row.get("b")}, row)
            for row in (group["pairs"] if paired else group["overall"])
        ]
        ratings = {row["generator"]: row for row in group["ratings"]["rows"]}
        for levels, row in told:
            key = {name: levels[name] for name in options.by}
            rating = None if AGAINST in options.by else ratings.get(levels[GENERATOR])
            rows.append(
                GroupFigures(key, {name: row[name] for name in _COMPARED}, _measures(row, rating), row["flags"])
            )
    named = ["rate", "weighted", "rating", *(["score"] if pairing.recipe else [])]
    out = {name: count for name, count in document["left_out"].items() if count}
    return Figures(rows, _COMPARED, named, _RATES, out, options.rules.diagnostic)


def _measures(row: dict[str, Any], rating: dict[str, Any] | None) -> dict[str, dict[str, Any]]:
    return {
        "rate": _moments(row["rate"], row["exact95"]),
        "weighted": _moments(row["share"], row["share_ci95"]),
        **_recipe_score(row, "score"),
        "rating": _moments(rating["rating"], rating["ci95"]) if rating else _moments(None, None),
    }


def _recipe_score(row: dict[str, Any], name: str) -> dict[str, dict[str, Any]]:
    scored = row.get("recipe") or {"score": None, "ci95": None}
    return {name: _moments(scored["score"], scored["ci95"])}


def _moments(mean: Decimal | None, ends: list[Decimal] | None) -> dict[str, Any]:
    return {"mean": mean, "sd": None, "min": None, "max": None, "ci95": ends}
