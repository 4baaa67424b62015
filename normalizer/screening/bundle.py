"""A raw bundle: parse its bytes, or say why no record can be made from them, and what is wrong with it as a whole.

Nothing is repaired. Reasons against the envelope, phase or manifest make all records of the bundle INVALID.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import contract_spec as spec

from normalizer.documents import lossless
from normalizer.documents.lossless import Number, comparable, dumps, exact_value, to_builtin
from normalizer.documents.pointers import AppliedStep, copy_along, escape, original, steps_of, translate
from normalizer.documents.settings import LIMITS, Dialect, Settings
from normalizer.screening.metadata import METADATA, check_relaxations, find_missing_metadata, phase_of
from normalizer.screening.reasons import Reason, first_per_pointer

ENTRIES = "per_file_scores"
COMPARISONS = "per_comparison"

_SCHEMAS = {ENTRIES: "eval/judge_bundle.json", COMPARISONS: "eval/comparison_bundle.json"}
_SOUND_ENTRIES: dict[str, list[Any]] = {
    ENTRIES: [{"file": "a", "scores": {"a": 0}}],
    COMPARISONS: [{"item": "a", "a": "a", "verdict": None}],
}
OF_EACH_FILE = ("generator_model",)
"""Metadata that may differ between files, so that it is checked for each record."""
_OF_A_FILE_ONLY = ("file", "artifact", "path", "sha256")


class Bundle(NamedTuple):
    """A document with a list of entries. Neither the entries nor the rest of the document are validated yet."""

    header: dict[str, Any]
    """The document as it was written, its list of entries replaced by their number."""
    envelope: dict[str, Any]
    """The document in our terms, without its list of entries."""
    entries: list[Any]
    entries_at: str
    """Where the list is in the document as it was written."""
    moved: list[AppliedStep]
    """Steps that the dialect took."""
    conflicts: list[str]
    """Pointers of the steps that the dialect could not take."""
    entries_name: str = ENTRIES
    """The name of the list of entries in our terms: COMPARISONS for a bundle of comparisons."""

    @property
    def compares(self) -> bool:
        """Whether its entries are comparisons of two answers, not single scores."""
        return self.entries_name == COMPARISONS


def read(data: bytes, dialect: Dialect | None = None, limits: dict[str, int] = LIMITS) -> Bundle | Reason:
    """Return the bundle, or the reason why the bytes are none."""
    if len(data) > limits["max_bundle_bytes"]:
        return too_large(len(data), limits)
    if (why := lossless.too_many_values(data, limits["max_bundle_bytes"])) is not None:
        return Reason("too_large", "", why)
    try:
        document = lossless.parse(data, limits["max_depth"])
    except spec.NotStrictJson as error:
        return Reason("not_strict_json", "", f"it is not strict JSON: {error}")
    if type(document) is not dict:
        return Reason("not_an_object", "", "a bundle must be a JSON object")
    moved: list[AppliedStep] = []
    conflicts: list[str] = []
    translated = document
    if dialect is not None and dialect.bundle:
        translated, moved, _, conflicts = translate(document, dialect.bundle)
    # With both lists it is a bundle of single scores that has a field too many, and is screened as such.
    name = COMPARISONS if COMPARISONS in translated and ENTRIES not in translated else ENTRIES
    entries = translated.get(name)
    entries_at = original(f"/{name}", moved)
    if type(entries) is not list:
        what = "is missing" if name not in translated else "must be a list of entries"
        return Reason("no_entry_list", entries_at, f"{name} {what}")
    if not entries:
        return Reason("no_entries", entries_at, f"{name} has no entry")
    if len(entries) > limits["max_entries"]:
        return Reason("too_large", entries_at, f"{name} has {len(entries)} entries, more than {limits['max_entries']}")
    header, parent, key = copy_along(document, entries_at)
    parent[key] = len(entries)
    envelope = {key: value for key, value in translated.items() if key != name}
    return Bundle(header, envelope, entries, entries_at, moved, conflicts, name)


def too_large(size: int, limits: dict[str, int]) -> Reason:
    """Why a document of that many bytes is not read."""
    return Reason("too_large", "", f"it has {size} bytes, more than the {limits['max_bundle_bytes']} a bundle may have")


def find_reasons(bundle: Bundle, entries: list[Any], taken: dict[str, Any], settings: Settings) -> Iterator[Reason]:
    """Return the reasons that every record of the bundle gets. Pointers are into the bundle as it was written."""
    phase = phase_of(bundle.envelope, settings)
    parts = (
        conflicts(bundle.conflicts),
        _shape(bundle),
        _find_mixed(bundle, entries, taken, settings),
        check_relaxations(settings.manifest, phase),
        contradictions(bundle.envelope, settings),
        () if bundle.compares else _rubric(bundle.envelope, settings),
        find_missing_metadata({**settings.of_dialect, **settings.run, **bundle.envelope}, phase, _list_wanted(bundle)),
    )
    for part in parts:
        for reason in part:
            yield reason._replace(pointer=original(reason.pointer, bundle.moved))
    # A dialect does not move these members.
    yield from contradictions(taken, settings)
    yield from _rubric(taken, settings)


def find_taken_away(bundle: Bundle) -> dict[str, Any]:
    """Return run metadata that the bundle states and that the dialect moved away. It still counts as stated: a dialect
    must not hide it. Values that the schema does not allow there are left out."""
    if not bundle.moved:
        return {}
    written = {key: bundle.header[key] for key in METADATA if key in bundle.header and f"/{key}" != bundle.entries_at}
    stated = {key: value for key, value in written.items() if key != "factors" and _is_sound(bundle, {key: value})}
    factors = written.get("factors")
    if type(factors) is dict:
        stated["factors"] = {
            name: level for name, level in factors.items() if _is_sound(bundle, {"factors": {name: level}})
        }
    return {key: value for key, value in stated.items() if dumps(bundle.envelope.get(key)) != dumps(value)}


def _is_sound(bundle: Bundle, envelope: dict[str, Any]) -> bool:
    return not _violations(bundle, envelope)


def _violations(bundle: Bundle, envelope: dict[str, Any]) -> list[spec.Violation]:
    """Validate an envelope against the bundle's schema. A valid list replaces the entries, which are screened one by
    one elsewhere."""
    name = bundle.entries_name
    return spec.violations(_SCHEMAS[name], {**to_builtin(envelope), name: _SOUND_ENTRIES[name]})


def conflicts(pointers: list[str]) -> Iterator[Reason]:
    """Return a reason for each step that a dialect could not take."""
    for pointer in pointers:
        yield Reason("dialect_conflict", pointer, "the dialect cannot move it there without losing something")


def _shape(bundle: Bundle) -> Iterator[Reason]:
    for violation in first_per_pointer(_violations(bundle, bundle.envelope)):
        code = "envelope_field_unknown" if violation.keyword == "additionalProperties" else "envelope_field_invalid"
        yield Reason(code, violation.pointer, f"{'.'.join(steps_of(violation.pointer))} {violation.message}")


def _find_mixed(bundle: Bundle, entries: list[Any], taken: dict[str, Any], settings: Settings) -> Iterator[Reason]:
    given = [part["phase"] for part in (bundle.envelope, taken) if "phase" in part] or [settings.run.get("phase", [])]
    stated = [phase for value in given for phase in _each(value)]
    own = [entry["phase"] for entry in entries if type(entry) is dict and "phase" in entry]
    # A dialect may set a field aside, but not the fact that phases are mixed.
    written = [part["phase"] for part in (bundle.header, *bundle.entries) if type(part) is dict and "phase" in part]
    own += [phase for value in written for phase in _each(value) if _is_phase(phase)]
    if len({comparable(value) for value in [*stated, *own]}) > 1:
        yield Reason("phases_mixed", "/phase", "the bundle states more than one phase: a run has one")


def _each(value: Any) -> list[Any]:
    return value if type(value) is list else [value]


def _is_phase(value: Any) -> bool:
    return type(value) is Number and exact_value(value) in (0, 1, 2)


def contradictions(envelope: dict[str, Any], settings: Settings) -> Iterator[Reason]:
    """Yield a reason for each value of the bundle that contradicts the manifest or --set."""
    manifest, run = settings.manifest, settings.run
    if not run and manifest is None:
        return
    files = list(manifest.files.values()) if manifest is not None else []
    for key, given in envelope.items():
        if key == "factors" and type(given) is dict:
            own = [file.get("factors", {}) for file in files]
            for name, level in given.items():
                pointer = f"/factors/{escape(name)}"
                yield from _contradiction(pointer, f"factors.{name}", level, name, run.get("factors", {}), own)
        elif key not in _OF_A_FILE_ONLY:
            yield from _contradiction(f"/{escape(key)}", key, given, key, run, files)


def _contradiction(
    pointer: str, label: str, given: Any, key: str, run: dict[str, Any], files: list[dict[str, Any]]
) -> Iterator[Reason]:
    """Compare with the run's value if the manifest has one, otherwise with those of its files."""
    others = [run[key]] if key in run else [file[key] for file in files if key in file]
    for other in others:
        if comparable(other) != comparable(given):
            message = f"{label} is {dumps(given)} in the bundle and {dumps(other)} in the manifest or --set"
            yield Reason("manifest_contradiction", pointer, message)
            return


def _rubric(envelope: dict[str, Any], settings: Settings) -> Iterator[Reason]:
    named = envelope.get("rubric")
    if type(named) is str and named != settings.rubric.name:
        message = f"the run names the rubric {dumps(named)}, but {dumps(settings.rubric.name)} is active"
        yield Reason("rubric_mismatch", "/rubric", message)


def _list_wanted(bundle: Bundle) -> tuple[str, ...]:
    """Metadata that the whole bundle must record. Each entry of a bundle of comparisons may name its own judge."""
    return ("protocol_version",) if bundle.compares else ("protocol_version", "judge_model")
