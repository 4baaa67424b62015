"""Run metadata of a record: from its entry, bundle and manifest, from --set and the dialect; what its phase demands."""

from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

from normalizer.documents import protocol
from normalizer.documents.lossless import Number, dumps, exact_value, quoted, to_builtin
from normalizer.documents.pointers import AppliedStep
from normalizer.documents.settings import Manifest, Settings
from normalizer.screening.reasons import Reason, sort

METADATA = (
    "eval_id",
    "run_id",
    "leg",
    "created_at",
    "protocol_version",
    "judge_prompt_version",
    "judge_version",
    "judge_prompt_sha256",
    "judge_settings",
    "judge_model",
    "judge_kind",
    "generator_model",
    "phase",
    "self_judged",
    "rubric",
    "factors",
)


class Metadata(NamedTuple):
    """Metadata that several entries of a file share, and what is wrong with it."""

    values: dict[str, Any]
    """Without factors."""
    text: str
    """The members as JSON text: of a bundle with factors, of a row without those of its own."""
    reasons: list[Reason]
    run_factors: dict[str, str] = {}  # noqa: RUF012 - never changed
    listed_factors: dict[str, str] = {}  # noqa: RUF012 - never changed
    """Factors of the manifest's file or item."""


def gather(settings: Settings, envelope: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """Return the values without factors: those `given` for an entry before the bundle's, the bundle's before the run's,
    the run's before those that the dialect states."""
    known = {**settings.of_dialect, **settings.run, **envelope, **given}
    values = {key: known[key] for key in METADATA if key != "factors" and key in known}
    values.setdefault("phase", Number("0"))
    if settings.labels_by_name:
        label_by_name(values, values.get("generator_model"))
    values.setdefault("rubric", settings.rubric.name)
    return {key: values[key] for key in METADATA if key in values}


def label_by_name(values: dict[str, Any], *generators: Any) -> None:
    """Label a record self-judged by whether its judge is one of the generators, unless it has a label or no names."""
    judge = values.get("judge_model")
    if "self_judged" not in values and type(judge) is str and all(type(name) is str for name in generators):
        values["self_judged"] = judge in generators


def contradictions(own: dict[str, Any], others: dict[str, Any]) -> Iterator[Reason]:
    """Yield a reason for each value of a row that contradicts the manifest or --set."""
    for key, given in own.items():
        if key == "factors":
            known = others.get("factors", {})
            differing = [
                (f"factors.{n}", level, known[n]) for n, level in given.items() if known.get(n, level) != level
            ]
        else:
            differing = [(key, given, others[key])] if to_builtin(others.get(key, given)) != to_builtin(given) else []
        for label, one, other in differing:
            message = f"{label} is {dumps(one)} in the row and {dumps(other)} in the manifest or --set"
            yield Reason("manifest_contradiction", f"/{label.replace('.', '/', 1)}", message)


def dialect_members(settings: Settings, stated: list[str]) -> str:
    """Return what a record's source says of its dialect: name, digest, and the metadata that the dialect states."""
    name = settings.dialect.name if settings.dialect is not None else ""
    text = f'"name":{quoted(name)},"sha256":"{settings.identity["dialect"]}"'
    return f'{text},"stated":{dumps(stated)}' if stated else text


def artifact_member(file: Any, manifest: Manifest | None) -> str:
    """Return the stable id of a file as a JSON member: its `artifact` in the manifest, or its name; or nothing."""
    if type(file) is not str:
        return ""
    listed = manifest.files.get(file, {}) if manifest is not None else {}
    return f'"artifact":{quoted(listed.get("artifact", file))}'


def phase_of(envelope: dict[str, Any], settings: Settings) -> int:
    """The phase a bundle is screened under: its own, the manifest's, the stated one or the dialect's, else 0."""
    stated = {**settings.of_dialect, **settings.run, **envelope}.get("phase")
    value = exact_value(stated) if type(stated) is Number else None
    return int(value) if value in (0, 1, 2) else 0


def check_relaxations(manifest: Manifest | None, phase: int) -> Iterator[Reason]:
    """Yield a reason if the manifest states relaxations and the phase allows none."""
    if manifest is not None and manifest.relaxations and not protocol.may_relax(phase):
        message = f"the manifest states relaxations, which a run of phase {phase} does not have"
        yield Reason("relaxation_forbidden", "/phase", message)


def find_missing_metadata(known: dict[str, Any], phase: int, wanted: tuple[str, ...]) -> Iterator[Reason]:
    """Yield a reason for each field that the phase requires and that `known` lacks."""
    for key in wanted:
        if key in protocol.must_record(phase) and key not in known:
            message = f"phase {phase} needs {key}, in the bundle, in its manifest or stated with --set"
            yield Reason(f"{key}_missing", f"/{key}", message)


class Judgements:
    """The base of the two kinds of judgement: it knows the phase of the run and its manifest."""

    name = ""
    """The field of an entry that names what it is about."""
    fields: tuple[str, ...] = ()
    mark = prefix = ""
    """Further members of the header line, and of a record's metadata."""
    unlisted = ""
    """The message for what the manifest lists and no entry is about."""

    def __init__(self, settings: Settings, envelope: dict[str, Any]) -> None:
        self._manifest = settings.manifest
        self._phase = phase_of(envelope, settings)
        relaxed = self._manifest.exemptions if self._manifest else frozenset[str]()
        self.enforced = protocol.list_enforced(self._phase, relaxed)

    def own_metadata(self, value: dict[str, Any], listed: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG002 - of comparisons
        """Return the run metadata that fields of an entry give: none."""
        return {}

    def select_metadata(self, values: dict[str, Any]) -> dict[str, Any]:
        """Return the metadata that a record shows."""
        return values

    def check_metadata(
        self,
        values: dict[str, Any],  # noqa: ARG002 - of scores
        taken: dict[str, Any],  # noqa: ARG002 - of scores
        moved: list[AppliedStep],  # noqa: ARG002 - of scores
    ) -> list[Reason]:
        """Return what is wrong with the metadata of a bundle's entry: nothing that `check` does not find."""
        return []

    def list_unmatched(self, names: Collection[str], at: str) -> list[Reason]:
        """Return the manifest's list against what the entries name, as far as no record is to blame."""
        if self._manifest is None:
            return []
        listed = self._manifest.files
        found = [
            Reason("file_without_entry", at, self.unlisted.format(dumps(name)), name)
            for name in listed
            if name not in names
        ]
        if "manifest_files" not in self.enforced:
            unnamed = set(names) - listed.keys()
            found += [
                Reason("file_not_in_manifest", at, f"{dumps(name)} is not in the manifest", name) for name in unnamed
            ]
        return sort(found)
