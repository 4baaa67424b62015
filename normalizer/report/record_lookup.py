"""Look up the records that a number of the report is made of, by the rules of that number."""

from collections import Counter, defaultdict
from typing import Any

from normalizer.aggregate.eligibility import Kind, Levels, Rules
from normalizer.report.record_status import RecordStatus
from normalizer.report.study import Study
from normalizer.statistics.contrasts import JUDGE

Artifact = tuple[Any, Any]


class RecordLookup:
    """Looks records up."""

    def __init__(self, study: Study, rules: Rules) -> None:
        self._rules = rules
        self.every = study.records
        self.admitted = [each for each in study.records if each.status in ("counted", "self_judged")]
        self._groups: dict[tuple[Levels, str], list[RecordStatus]] = defaultdict(list)
        self._bundles: dict[str, list[RecordStatus]] = defaultdict(list)
        for each in self.every:
            self._groups[each.levels, each.status].append(each)
            self._bundles[each.bundle].append(each)
        self._contrasts: dict[tuple[str, ...], list[RecordStatus]] = {}
        self._judged: dict[Any, dict[Artifact, list[RecordStatus]]] = defaultdict(lambda: defaultdict(list))
        for each in self.admitted:
            self._judged[each.plain.get("judge_model")][_artifact(each)].append(each)

    def group(self, levels: Levels, status: str = "counted") -> list[RecordStatus]:
        """The records of a group of that status."""
        return self._groups.get((levels, status), [])

    def without(self, levels: Levels, judge: str) -> list[RecordStatus]:
        """The admitted records of a group that another judge made."""
        admitted = self.group(levels) + self.group(levels, "self_judged")
        return [each for each in admitted if each.plain.get("judge_model") != judge]

    def bundle(self, sha256: str) -> list[RecordStatus]:
        """The records of a bundle."""
        return self._bundles.get(sha256, [])

    def of_status(self, status: str) -> list[RecordStatus]:
        """All records of that status."""
        return [each for each in self.every if each.status == status]

    def find_screened(self, key: str, level: Any, *, invalid: bool) -> list[RecordStatus]:
        """The records of the selection with that level, or only the INVALID ones."""
        wanted = (
            ("invalid",)
            if invalid
            else ("counted", "self_judged", "diagnostic", "off_scale", "other_judge_kind", "invalid")
        )
        return [each for each in self.every if each.status in wanted and each.level(key) == level]

    def by_judge(self, judge: str) -> list[RecordStatus]:
        """Return the records of a judge."""
        return [each for each in self.admitted if each.plain.get("judge_model") == judge]

    def pair(self, first: str, second: str) -> list[RecordStatus]:
        """Return the records of both judges on the artifacts they share."""
        shared = self._judged[first].keys() & self._judged[second].keys()
        return [each for judge in (first, second) for artifact in shared for each in self._judged[judge][artifact]]

    def find_shared(self) -> list[RecordStatus]:
        """Return all records of artifacts that more than one judge judged."""
        judges = Counter(artifact for artifacts in self._judged.values() for artifact in artifacts)
        return [each for each in self.admitted if judges[_artifact(each)] > 1]

    def own(self, judge: str, *, own: bool) -> list[RecordStatus]:
        """Return the records of a judge and the other judges, on artifacts of its own model or of others."""
        mine = {
            artifact
            for artifact, records in self._judged[judge].items()
            if any(each.kind is not None and each.kind.self_judged == own for each in records)
        }
        others = [each for each in self.admitted if each.plain.get("judge_model") != judge]
        crossed = [each for each in others if _artifact(each) in mine and each.kind and not each.kind.self_judged]
        met = {_artifact(each) for each in crossed}
        return crossed + [each for artifact in mine & met for each in self._judged[judge][artifact]]

    def contrast(self, key: str, levels: list[str], paired_by: list[str]) -> list[RecordStatus]:
        """Return the records of two levels, in the blocks that have both."""
        asked = (key, *levels, *paired_by)
        if asked not in self._contrasts:
            self._contrasts[asked] = self._contrast(key, levels, paired_by)
        return self._contrasts[asked]

    def _contrast(self, key: str, levels: list[str], paired_by: list[str]) -> list[RecordStatus]:
        within = () if JUDGE in (key, *paired_by) else (JUDGE,)
        blocks: dict[Levels, dict[Levels, dict[str, list[RecordStatus]]]] = defaultdict(lambda: defaultdict(dict))
        for each in self.admitted:
            if each.level(key) is not None:
                block = tuple(each.level(name) for name in paired_by)
                judge = tuple(each.level(name) for name in within)
                blocks[block][judge].setdefault(str(each.level(key)), []).append(each)
        found = []
        for judges in blocks.values():
            both = [[cells[level] for level in levels] for cells in judges.values() if cells.keys() >= set(levels)]
            if not all(any(map(self._alone, sides)) for sides in both):
                found += [each for sides in both for side in sides for each in side]
        return found

    def _alone(self, records: list[RecordStatus]) -> bool:
        kinds: Counter[Kind] = Counter(each.kind for each in records if each.kind is not None)
        return bool(self._rules.only_self_judged(kinds))


def _artifact(each: RecordStatus) -> Artifact:
    return each.plain.get("artifact"), each.plain.get("generator_model")
