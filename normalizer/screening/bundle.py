"""Parse the bytes of a bundle, or give the reason why no record can be made from them. Nothing is repaired."""

from typing import Any, NamedTuple

import contract_spec as spec

from normalizer.documents import lossless
from normalizer.documents.dialect import AppliedStep, Dialect, original, translate
from normalizer.documents.pointers import copy_along
from normalizer.documents.settings import LIMITS
from normalizer.screening.reasons import Reason

ENTRIES = "per_file_scores"
COMPARISONS = "per_comparison"


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
