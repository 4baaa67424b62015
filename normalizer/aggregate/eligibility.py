"""The protocol's rules on which records may be aggregated. No other module decides this.

INVALID records are never counted (6). Phase 0 is diagnostic (7.1). Phases and protocol versions are mixed only on
request (7, 10), and so are the legs of a run, which had different judges. Self-judged records count beside others,
never alone (8.2). Numbers refer to clauses of the protocol.
"""

from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

from normalizer.aggregate import keys
from normalizer.aggregate.keys import Level
from normalizer.documents import protocol
from normalizer.errors import CannotRun

SELF = "CASE WHEN self_judged = 'true' OR judge_model = generator_model THEN 1 ELSE 0 END"
"""SQL over a record: `protocol.eligibility`, for records of any phase."""

ALONE = "all valid records are self-judged, which must not be the sole basis of a number"
"""Reasons why a group has no number."""


MIXABLE = ("phase", "protocol_version", "leg")
"""Keys whose levels are put into one number only on request."""


class Kind(NamedTuple):
    """The properties of a VALID record that the rules depend on."""

    phase: int
    protocol: str | None
    self_judged: bool
    off_scale: bool
    """Scores off the scale; possible only in phase 0, which can relax that rule."""
    judge_kind: str = "model"
    """model, human or reference."""
    leg: str | None = None
    """The leg of a run that went on with another judge."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules with the options that the user chose."""

    diagnostic: bool = False
    """Phase 0 is admitted, and every output says so."""
    mix: frozenset[str] = frozenset()
    """Keys that may be mixed, of `MIXABLE`."""
    judge_kinds: frozenset[str] = frozenset(("model",))
    """Kinds of judges that count. Human and reference labels count only if they are named."""

    def admits(self, kind: Kind) -> bool:
        """Whether records of a kind may be counted, at least beside others."""
        return self.refusal(kind) is None

    def refusal(self, kind: Kind) -> str | None:
        """Return why records of a kind are not counted, as a member of `left_out`; None if they are."""
        if not self.admits_phase(kind.phase):
            return "diagnostic"
        if kind.off_scale:
            return "off_scale"
        return None if kind.judge_kind in self.judge_kinds else "other_judge_kind"

    def admits_phase(self, phase: Level) -> bool:
        """Whether records of a phase may be counted; a phase that cannot be read counts as diagnostic."""
        return self.diagnostic or bool(protocol.rules()["phases"][str(phase or 0)]["aggregated"])

    def condition(self) -> str:
        """Return the rules as an SQL condition over `records`."""
        admitted, kinds = self._list_admitted()
        return f"chosen = 1 AND off = 0 AND phase IN ({admitted}) AND judge_kind IN ({kinds})"

    def status(self) -> str:
        """Return SQL over `records` for what becomes of a record: counted, not_selected, or its `refusal`."""
        admitted, kinds = self._list_admitted()
        return (
            f"CASE WHEN chosen = 0 THEN 'not_selected' WHEN phase NOT IN ({admitted}) THEN 'diagnostic' "
            f"WHEN off = 1 THEN 'off_scale' WHEN judge_kind NOT IN ({kinds}) THEN 'other_judge_kind' "
            "ELSE 'counted' END"
        )

    def _list_admitted(self) -> tuple[str, str]:
        """Return the phases and the kinds of judges that count, as lists of SQL."""
        numbers = [name for name in sorted(protocol.rules()["phases"]) if self.admits_phase(int(name))]
        return ", ".join(numbers), ", ".join(f"'{name}'" for name in sorted(self.judge_kinds))

    def check_mixing(self, kinds: Counter[Kind], by: tuple[str, ...] | None) -> None:
        """Raise CannotRun if a number would mix levels of `MIXABLE` without request. `by` None: all groups."""
        admitted = [kind for kind in kinds if self.admits(kind)]
        found = {
            "phase": sorted({str(kind.phase) for kind in admitted}),
            "protocol_version": sorted({keys.level(kind.protocol) for kind in admitted}),
            "leg": sorted({keys.level(kind.leg) for kind in admitted}),
        }
        for name, levels in found.items():
            if len(levels) > 1 and name not in (by or ()) and name not in self.mix:
                grouped = f"group --by {name}, " if by is not None else ""
                raise CannotRun(
                    f"the records are of {name} {' and '.join(levels[:5])}{' and more' if len(levels) > 5 else ''}, "
                    f"which are not mixed silently: {grouped}choose one with --where {name}={levels[-1]}, "
                    f"or ask for it with --mix {name}"
                )

    def count_left_out(self, kinds: Counter[Kind]) -> Counter[str]:
        """Count a group's VALID records that are left out, by reason."""
        counted: Counter[str] = Counter()
        for kind, count in kinds.items():
            reason = self.refusal(kind)
            if reason is not None:
                counted[reason] += count
        counted["self_judged"] = self.only_self_judged(kinds)
        return counted

    def only_self_judged(self, kinds: Counter[Kind]) -> int:
        """Count the admitted records of a group if all of them are self-judged; else 0."""
        admitted = [(kind, count) for kind, count in kinds.items() if self.admits(kind)]
        if any(not kind.self_judged for kind, _ in admitted):
            return 0
        return sum(count for _, count in admitted)

    def flags(self, kinds: Counter[Kind], *, invalid: bool) -> list[str]:
        """Flags of a group, from its VALID records and whether it has INVALID ones."""
        admitted = [kind for kind in kinds if self.admits(kind)]
        flags = ["diagnostic"] if self.diagnostic else []
        if not admitted:
            why = (
                "only_diagnostic"
                if any(not self.admits_phase(kind.phase) for kind in kinds)
                else "only_off_scale"
                if any(kind.off_scale for kind in kinds)
                else "only_other_judge_kind"
                if kinds
                else "only_invalid"
                if invalid
                else "no_records"
            )
            return [*flags, why]
        if all(kind.self_judged for kind in admitted):
            return [*flags, "only_self_judged"]
        if any(kind.self_judged for kind in admitted):
            flags.append("self_judged_included")
        if len({kind.phase for kind in admitted}) > 1:
            flags.append("mixed_phases")
        if len({kind.protocol for kind in admitted}) > 1:
            flags.append("mixed_protocol_versions")
        if len({kind.judge_kind for kind in admitted}) > 1:
            flags.append("mixed_judge_kinds")
        if len({kind.leg for kind in admitted}) > 1:
            flags.append("mixed_legs")
        return flags

    def flags_of_all(self, kinds: Counter[Kind]) -> list[str]:
        """Flags that apply to every number over all groups."""
        return [flag for flag in self.flags(kinds, invalid=False) if flag in _OF_ALL]


_OF_ALL = ("diagnostic", "mixed_phases", "mixed_protocol_versions", "mixed_judge_kinds", "mixed_legs")
Levels = tuple[Level, ...]
Cells = dict[Levels, Counter[Kind]]
"""The VALID records of each group, counted by what the rules look at."""
