"""Make one draft for each entry from a bundle and its manifest: fields are copied, ids derived.

A draft is the text of a record without its id. Whether it is VALID is decided elsewhere.
"""

import hashlib
from functools import lru_cache
from typing import Any, NamedTuple

from normalizer.documents.dialect import AppliedStep, translate
from normalizer.documents.lossless import Number, dumps, quoted
from normalizer.documents.manifest import Manifest
from normalizer.documents.settings import Settings
from normalizer.regular_files import READING_LIMITS
from normalizer.screening.bundle import Bundle

FIELDS = ("file", "scores", "evidence", "total", "notes")
"""The fields of an entry, in the order in which a record has them."""

METADATA = (
    "eval_id",
    "run_id",
    "leg",
    "created_at",
    "protocol_version",
    "judge_prompt_version",
    "judge_model",
    "judge_kind",
    "generator_model",
    "phase",
    "self_judged",
    "rubric",
    "factors",
)


_USUAL = READING_LIMITS["usual_line_bytes"]
_MOST_REPEATED = READING_LIMITS["max_repeated"]
_LEAST = READING_LIMITS["max_repeated_least"]


class LongLines:
    """Bounds what long lines of one file take: text that every record repeats would fill the disk.

    A record repeats the metadata of its run. Beyond 4 KiB a line, all lines of a file may take 16 times what was read
    of it, or 16 MiB if that is more.
    """

    def __init__(self) -> None:
        self._long = 0
        self._read = 0

    def read(self, size: int) -> None:
        """Add bytes that were read."""
        self._read += size

    def excess(self, line: str) -> str | None:
        """Add a line that is about to be written; why it is not, if that is too much."""
        self._long += max(0, len(line) - _USUAL)
        most = _MOST_REPEATED * max(_LEAST, self._read)
        if self._long <= most:
            return None
        return f"its records would take more than {most} bytes: what each of them repeats of its run is too long"


class Entry(NamedTuple):
    """An entry in our terms."""

    value: Any
    moved: list[AppliedStep]
    aside: dict[str, Any]
    conflicts: list[str]


class Metadata(NamedTuple):
    """Run metadata of a record, from the bundle, the manifest and the manifest's file."""

    values: dict[str, Any]
    text: str
    """Its members as JSON text."""


@lru_cache(maxsize=256)
def _in_order(keys: tuple[str, ...], fields: tuple[str, ...]) -> bool:
    """Whether an entry's keys are those of the schema, in its order."""
    return keys == tuple(field for field in fields if field in keys)


class RecordDrafts:
    """Makes the drafts of one bundle."""

    fields: tuple[str, ...] = FIELDS

    def __init__(self, bundle: Bundle, sha256: str, settings: Settings) -> None:
        self._bundle = bundle
        self._settings = settings
        self._source = f'"source":{{"bundle_sha256":"{sha256}","index":'
        self._at = dumps(bundle.entries_at)[:-1]
        self._by_file: dict[str, Metadata] = {}
        self._metadata = self.gather({})

    def entry(self, raw: Any) -> Entry:
        """An entry of the bundle after the dialect's steps."""
        dialect = self._settings.dialect
        if dialect is None or type(raw) is not dict:
            return Entry(raw, [], {}, [])
        return Entry(*translate(raw, dialect.entry))

    def metadata_of(self, value: Any) -> Metadata:
        """Return the metadata of an entry's file, from the run's documents."""
        return self.metadata(value.get("file") if type(value) is dict else None)

    def metadata(self, file: Any) -> Metadata:
        """Return the metadata of a file, from the run's documents."""
        manifest = self._settings.manifest
        if manifest is None or type(file) is not str or file not in manifest.files:
            return self._metadata
        known = self._by_file.get(file)
        if known is None:
            known = self._by_file[file] = self.gather(manifest.files[file])
        return known

    def body(self, index: int, entry: Entry, metadata: Metadata) -> str:
        """The members of the record after its id."""
        value = entry.value
        source = f'{self._source}{index},"pointer":{self._at}/{index}"'
        if type(value) is not dict:
            return f'{source}{self._translation(entry)},"value":{dumps(value)}}},{metadata.text}'
        fields = value
        if not _in_order(tuple(value), self.fields):
            source += f',"order":{dumps(list(value))}'
            fields = {field: value[field] for field in self.fields if field in value}
        source += self._translation(entry)
        if len(fields) < len(value):
            rest = {key: inner for key, inner in value.items() if key not in fields}
            source += f',"rest":{dumps(rest)}'
        copied = dumps(fields)[1:-1]
        return ",".join(part for part in (f"{source}}}", copied, self.derived(value), metadata.text) if part)

    def derived(self, value: dict[str, Any]) -> str:
        """The members that stand between the copied fields and the metadata."""
        return self.artifact(value.get("file"))

    def _translation(self, entry: Entry) -> str:
        dialect = self._settings.dialect
        if dialect is None:
            return ""
        settings = self._settings
        steps = [{key: value for key, value in done._asdict().items() if value is not None} for done in entry.moved]
        aside = f',"aside":{dumps(entry.aside)}' if entry.aside else ""
        named = dialect_members(settings, settings.stated_by_dialect(self._bundle.envelope))
        return f',"dialect":{{{named},"steps":{dumps(steps)}{aside}}}'

    def artifact(self, file: Any) -> str:
        """Return the stable id of a file as a member; empty if the entry names no file."""
        return artifact_member(file, self._settings.manifest)

    def gather(self, file: dict[str, Any]) -> Metadata:
        """Return the metadata of a file: its own values before the bundle's, the bundle's before the run's."""
        envelope, run = self._bundle.envelope, self._settings.run
        known = {**self._settings.of_dialect, **run, **envelope, **file}
        values = {key: known[key] for key in METADATA if key in known}
        values.setdefault("phase", Number("0"))
        if self._settings.labels_by_name:
            label_by_name(values, values.get("generator_model"))
        values.setdefault("rubric", self._settings.rubric.name)
        if type(envelope.get("factors", {})) is dict:
            factors = {**envelope.get("factors", {}), **run.get("factors", {}), **file.get("factors", {})}
            if factors:
                values["factors"] = factors
        else:
            values["factors"] = envelope["factors"]
        ordered = {key: values[key] for key in METADATA if key in values}
        return Metadata(ordered, dumps(ordered)[1:-1])


def label_by_name(values: dict[str, Any], *generators: Any) -> None:
    """Label a record self-judged by whether its judge is one of the generators, unless it has a label or no names."""
    judge = values.get("judge_model")
    if "self_judged" not in values and type(judge) is str and all(type(name) is str for name in generators):
        values["self_judged"] = judge in generators


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


def line(body: str, reasons: str | None = None) -> str:
    """A record's line: its id is derived from its content, reasons aside."""
    record_id = hashlib.sha256(body.encode()).hexdigest()[:32]
    if reasons is None:
        return f'{{"record_id":"{record_id}",{body}}}\n'
    return f'{{"record_id":"{record_id}",{body},"reasons":{reasons}}}\n'
