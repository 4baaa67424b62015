"""A raw bundle as a container: its rows are its entries, in our terms after the steps of a dialect."""

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from normalizer.documents.lossless import dumps
from normalizer.documents.pointers import AppliedStep, original, translate
from normalizer.documents.settings import Settings
from normalizer.screening.bundle import Bundle, conflicts, find_reasons, find_taken_away
from normalizer.screening.comparison_rules import Comparisons
from normalizer.screening.entry_rules import Scores
from normalizer.screening.metadata import Metadata, dialect_members, gather
from normalizer.screening.reasons import Draft, Reason, sort


class Entry(NamedTuple):
    """An entry in our terms."""

    value: Any
    moved: list[AppliedStep]
    aside: dict[str, Any]
    conflicts: list[str]


@lru_cache(maxsize=256)
def _in_order(keys: tuple[str, ...], fields: tuple[str, ...]) -> bool:
    """Whether an entry's keys are those of the schema, in its order."""
    return keys == tuple(field for field in fields if field in keys)


class BundleEntries:
    """Makes the drafts of one bundle, and finds what is wrong with each."""

    unreadable = unselected = 0
    """A bundle is read as a whole, and all its entries count."""

    def __init__(self, bundle: Bundle, size: int, sha256: str, settings: Settings) -> None:
        self.read = size
        self._bundle, self._settings = bundle, settings
        self.kind = (Comparisons if bundle.compares else Scores)(settings, bundle.envelope)
        self.entries_at, self.header = bundle.entries_at, bundle.header
        self._entries = [self._translate(raw) for raw in bundle.entries]
        self._taken = find_taken_away(bundle)
        values = [entry.value for entry in self._entries]
        self.shared = sort(list(find_reasons(bundle, values, self._taken, settings)))
        """Reasons that every record has."""
        self._start = f'"source":{{"bundle_sha256":"{sha256}","index":'
        self._at = dumps(bundle.entries_at)[:-1]
        self._known: dict[str, Metadata] = {}
        identity = self.kind.identity
        self._names = [identity(value) if type(value) is dict else (None, None) for value in values]
        self._copies = Counter(key for _, key in self._names)

    def drafts(self) -> Iterator[Draft]:
        """Yield the entries of the bundle."""
        for index, entry in enumerate(self._entries):
            metadata = self._metadata(entry.value) if type(entry.value) is dict else self._metadata({})
            name, key = self._names[index]
            copies = 1 if key is None else self._copies[key]
            body = self._body(index, entry, metadata)
            yield Draft(index, entry.value, name, None, body, metadata, entry, copies=copies)

    def reasons(self, draft: Draft, copies: int) -> list[Reason]:
        """Return the reasons against an entry, including those of its bundle, in their fixed order."""
        found = self.kind.check(draft.value, copies, draft.metadata.values)
        found += conflicts(draft.origin.conflicts)
        if found:
            at, moved = f"{self.entries_at}/{draft.position}", draft.origin.moved
            found = [reason._replace(pointer=at + original(reason.pointer, moved)) for reason in found]
        found += draft.metadata.reasons
        return sort([*self.shared, *found]) if found else self.shared

    def _translate(self, raw: Any) -> Entry:
        dialect = self._settings.dialect
        if dialect is None or type(raw) is not dict:
            return Entry(raw, [], {}, [])
        return Entry(*translate(raw, dialect.entry))

    def _metadata(self, value: dict[str, Any]) -> Metadata:
        manifest, name = self._settings.manifest, value.get(self.kind.name)
        listed = manifest.files.get(name, {}) if manifest is not None and type(name) is str else {}
        own = self.kind.own_metadata(value, listed)
        levels = value.get("levels", {}) if "levels" in self.kind.fields else {}
        key = dumps([own, levels, name if listed else None]) if own or levels != {} or listed else ""
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._gather({**listed, **own}, listed.get("factors", {}), levels)
        return known

    def _gather(self, given: dict[str, Any], listed: dict[str, str], levels: Any) -> Metadata:
        envelope, run = self._bundle.envelope, self._settings.run
        values = gather(self._settings, envelope, {key: given[key] for key in given if key != "factors"})
        found = self.kind.check_metadata(values, self._taken, self._bundle.moved)
        shown = self.kind.select_metadata(values)
        stated = [part["factors"] for part in (run, envelope, given) if "factors" in part]
        if type(levels) is not dict:
            stated = [levels]
        elif type(envelope.get("factors", {})) is not dict:
            stated = [envelope["factors"]]
        elif merged := {**envelope.get("factors", {}), **run.get("factors", {}), **listed, **levels}:
            stated = [merged]
        if stated:
            shown = {**shown, "factors": stated[-1]}
        return Metadata(values, self.kind.prefix + dumps(shown)[1:-1], found)

    def _body(self, index: int, entry: Entry, metadata: Metadata) -> str:
        """Return the members of the record after its id."""
        value = entry.value
        source = f'{self._start}{index},"pointer":{self._at}/{index}"'
        if type(value) is not dict:
            return f'{source}{self._translation(entry)},"value":{dumps(value)}}},{metadata.text}'
        fields = value
        if not _in_order(tuple(value), self.kind.fields):
            source += f',"order":{dumps(list(value))}'
            fields = {field: value[field] for field in self.kind.fields if field in value}
        source += self._translation(entry)
        if len(fields) < len(value):
            rest = {key: inner for key, inner in value.items() if key not in fields}
            source += f',"rest":{dumps(rest)}'
        parts = (f"{source}}}", dumps(fields)[1:-1], self.kind.derive(value), metadata.text)
        return ",".join(part for part in parts if part)

    def _translation(self, entry: Entry) -> str:
        settings = self._settings
        if settings.dialect is None:
            return ""
        steps = [{key: value for key, value in done._asdict().items() if value is not None} for done in entry.moved]
        aside = f',"aside":{dumps(entry.aside)}' if entry.aside else ""
        named = dialect_members(settings, settings.list_stated_by_dialect(self._bundle.envelope))
        return f',"dialect":{{{named},"steps":{dumps(steps)}{aside}}}'
