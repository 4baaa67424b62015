"""Every number that the commands print, as typed documents."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from contract_spec.model import Model

from normalizer.errors import CannotRun

if TYPE_CHECKING:
    from contract_models.eval.agreement import AgreementReport
    from contract_models.eval.audit_report import AuditReport
    from contract_models.eval.calibration import Calibration
    from contract_models.eval.check_report import CheckReport
    from contract_models.eval.contrasts import Contrasts
    from contract_models.eval.gate import Gate
    from contract_models.eval.plan import Plan
    from contract_models.eval.preferences import Preferences
    from contract_models.eval.summary import Summary

    from normalizer.aggregate.recipes import Recipe
    from normalizer.aggregate.summary import Options

M = TypeVar("M", bound=Model)


@dataclass(frozen=True, slots=True)
class LedgerNumbers:
    """The numbers of one ledger or several, read as one."""

    folders: tuple[Path, ...]

    def summary(
        self,
        by: Sequence[str] = (),
        *,
        where: Mapping[str, str | int | None] | None = None,
        unit: str = "artifact",
        diagnostic: bool = False,
        mix: Sequence[str] = (),
        judge_kinds: Sequence[str] = ("model",),
        recipe: str | None = None,
        recipe_files: Sequence[str | Path] = (),
    ) -> "Summary":
        """Means, spreads and intervals by group: what `normalizer aggregate` prints."""
        from contract_models.eval.summary import Summary

        from normalizer.aggregate.summary import aggregate

        options = options_of(by, where, unit, diagnostic, mix, judge_kinds)
        return model_of(Summary, aggregate(self.folders, replace(options, recipe=_recipe(recipe, recipe_files))))

    def agreement(
        self,
        *,
        where: Mapping[str, str | int | None] | None = None,
        diagnostic: bool = False,
        mix: Sequence[str] = (),
        judge_kinds: Sequence[str] = ("model",),
    ) -> "AgreementReport":
        """How well judges agree: what `normalizer agreement` prints."""
        from contract_models.eval.agreement import AgreementReport

        from normalizer.statistics.agreement import agreement

        return model_of(
            AgreementReport, agreement(self.folders, options_of((), where, "artifact", diagnostic, mix, judge_kinds))
        )

    def preferences(
        self,
        by: Sequence[str] = (),
        *,
        baseline: str | None = None,
        recipe: str | None = None,
        recipe_files: Sequence[str | Path] = (),
        where: Mapping[str, str | int | None] | None = None,
        diagnostic: bool = False,
        mix: Sequence[str] = (),
        judge_kinds: Sequence[str] = ("model",),
        seed: int = 0,
    ) -> "Preferences":
        """Win rates, order effects, ratings and length bias: what `normalizer preferences` prints."""
        from contract_models.eval.preferences import Preferences

        from normalizer.aggregate.eligibility import Rules
        from normalizer.aggregate.intervals import Method
        from normalizer.preferences.group_preferences import PreferenceOptions, preferences

        asked = PreferenceOptions(
            by=tuple(by),
            where=dict(where or {}),
            baseline=baseline,
            recipe=_recipe(recipe, recipe_files),
            rules=Rules(diagnostic, frozenset(mix), frozenset(judge_kinds)),
            method=Method(bootstrap=True, seed=seed),
        )
        return model_of(Preferences, preferences(self.folders, asked))

    def calibrate(
        self,
        gold: "LedgerNumbers | str | Path | None" = None,
        *,
        by: Sequence[str] = (),
        where: Mapping[str, str | int | None] | None = None,
        consensus: str = "median",
        gold_kinds: Sequence[str] = (),
        diagnostic: bool = False,
        mix: Sequence[str] = (),
        seed: int = 0,
    ) -> "Calibration":
        """Judges against human or reference labels: what `normalizer calibrate` prints."""
        from contract_models.eval.calibration import Calibration

        from normalizer.aggregate.intervals import Method
        from normalizer.calibration.judge_accuracy import calibrate

        more = () if gold is None else gold.folders if isinstance(gold, LedgerNumbers) else (Path(gold),)
        folders = tuple(dict.fromkeys((*self.folders, *more)))
        options = options_of(by, where, "artifact", diagnostic, mix, ("model",))
        return model_of(
            Calibration,
            calibrate(folders, options, consensus, Method(bootstrap=True, seed=seed), frozenset(gold_kinds)),
        )

    def gate(
        self,
        candidate: "LedgerNumbers | str | Path",
        *,
        margin: str | float | Decimal = 0,
        alpha: float = 0.05,
        by: Sequence[str] = (),
        where: Mapping[str, str | int | None] | None = None,
        measures: Sequence[str] = (),
        mix: Sequence[str] = (),
        lower_is_better: bool = False,
        allow_undecided: bool = False,
        diagnostic: bool = False,
        baseline: str | None = None,
        assume: Literal["scale", "spread"] = "scale",
        always_valid: bool = False,
    ) -> "Gate":
        """This ledger as the base, another as the candidate: what `normalizer gate` prints."""
        from contract_models.eval.gate import Gate

        from normalizer.aggregate.eligibility import MIXABLE
        from normalizer.gate.paired_verdicts import TOTAL, GateOptions, gate, margin_of

        other = candidate.folders if isinstance(candidate, LedgerNumbers) else (Path(candidate),)
        if len(self.folders) != 1 or len(other) != 1:
            raise CannotRun("a gate compares one ledger with one other")
        mixed = [key for key in mix if key in MIXABLE]
        options = options_of(by, where, "artifact", diagnostic, mixed, ("model",), also=("criterion",))
        asked = GateOptions(
            margin=margin_of(str(margin)),
            alpha=alpha,
            measures=tuple(measures) or TOTAL,
            lower_is_better=lower_is_better,
            undecided_passes=allow_undecided,
            mix=frozenset(mix),
            baseline=baseline,
            assume=assume,
            always_valid=always_valid,
        )
        return model_of(Gate, gate(self.folders[0], other[0], options, asked))

    def compare(
        self,
        by: str = "generator_model",
        *,
        pair_by: Sequence[str] = ("artifact",),
        where: Mapping[str, str | int | None] | None = None,
        diagnostic: bool = False,
        mix: Sequence[str] = (),
        judge_kinds: Sequence[str] = ("model",),
        assume: Literal["scale", "spread"] = "scale",
    ) -> "Contrasts":
        """The levels of a key, each with each, on pairs: what `normalizer compare` prints."""
        from contract_models.eval.contrasts import Contrasts

        from normalizer.statistics.contrasts import Contrast, compare

        options = options_of((), where, "artifact", diagnostic, mix, judge_kinds)
        return model_of(Contrasts, compare(self.folders, options, Contrast(by, tuple(pair_by), assume=assume)))

    def plan(
        self,
        *,
        detect: float | None = None,
        margin: float | None = None,
        assume: Literal["scale", "spread"] = "scale",
        power: float = 0.8,
        alpha: float = 0.05,
        repeats: Sequence[str] = (),
        where: Mapping[str, str | int | None] | None = None,
        judge_kinds: Sequence[str] = ("model",),
    ) -> "Plan":
        """The noise of judges, and the items that a study needs: what `normalizer plan` prints."""
        from contract_models.eval.plan import Plan

        from normalizer.noise.sample_size import PowerTarget
        from normalizer.noise.study_plan import plan

        options = options_of((), where, "artifact", False, (), judge_kinds)
        wanted = None if detect is None and margin is None else PowerTarget(detect, power, alpha, margin)
        return model_of(Plan, plan(self.folders, options, wanted, frozenset(repeats), assume))

    def check(
        self,
        table: str | Path,
        by: Sequence[str] = (),
        *,
        columns: Mapping[str, str] | None = None,
        baseline: str | None = None,
        recipe: str | None = None,
        recipe_files: Sequence[str | Path] = (),
        where: Mapping[str, str | int | None] | None = None,
        judge_kinds: Sequence[str] = ("model",),
    ) -> "CheckReport":
        """Whether a published table follows from the records: what `normalizer check` prints."""
        from contract_models.eval.check_report import CheckReport

        from normalizer.checks.published_tables.compare import check
        from normalizer.checks.published_tables.figures import COMPARED_BY, Pairing

        options = options_of(by, where, "artifact", False, (), judge_kinds, also=COMPARED_BY)
        asked = Pairing(baseline, _recipe(recipe, recipe_files))
        return model_of(CheckReport, check(Path(table), self.folders, options, dict(columns or {}), asked))

    def audit(self, *, verify: bool = True) -> "AuditReport":
        """Whether all of one ledger is accounted for: what `normalizer audit` prints."""
        from contract_models.eval.audit_report import AuditReport

        from normalizer.checks.audit import audit
        from normalizer.ledger.reader import reading

        if len(self.folders) != 1:
            raise CannotRun("an audit is of one ledger")
        with reading(self.folders[0], checked=False) as ledger:
            return model_of(AuditReport, audit(ledger, verify=verify))


def _recipe(name: str | None, files: Sequence[str | Path]) -> "Recipe | None":
    from normalizer.aggregate.recipes import read_recipe

    return read_recipe(name, tuple(map(Path, files)))


def model_of(kind: type[M], document: dict[str, Any]) -> M:
    """Return the document of a command as its model."""
    from normalizer.tables.formats import dumps

    return kind.model_validate_json(dumps(document))


def options_of(
    by: Sequence[str],
    where: Mapping[str, str | int | None] | None,
    unit: str,
    diagnostic: bool,
    mix: Sequence[str],
    judge_kinds: Sequence[str],
    also: tuple[str, ...] = (),
) -> "Options":
    """Return the options that select and group records."""
    from normalizer.aggregate.eligibility import Rules
    from normalizer.aggregate.keys import DIMENSION, RUN_NAMES, check_key
    from normalizer.aggregate.summary import Options

    rules = Rules(diagnostic, frozenset(mix), frozenset(judge_kinds))
    for name in (*by, *(where or {})):
        check_key(name, (*RUN_NAMES, *also, *([DIMENSION] if name in (where or {}) else [])))
    return replace(Options(), by=tuple(by), where=dict(where or {}), unit=unit, rules=rules)
