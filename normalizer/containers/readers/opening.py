"""Open a file as the container that its dialect declares, the first one that the file's beginning fits."""

from typing import Any, BinaryIO

from normalizer.containers.readers.archives import ArchiveReader
from normalizer.containers.readers.documents import JsonReader, leads
from normalizer.containers.readers.lines import JsonLinesReader
from normalizer.containers.readers.packed import packing, unpack
from normalizer.containers.readers.rows import MAX_ROW_BYTES, ContainerReader, UnreadableContainer, parse_row
from normalizer.containers.readers.tables import CsvReader

_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_COMPRESSED = {b"BZh": "bzip2", b"\xfd7zXZ": "xz"}
_LINES = 100
"""Lines that are looked at."""
_MARK = b"\xef\xbb\xbf"
_SUFFIXES = {"json": ["*.json"], "jsonl": ["*.jsonl", "*.json"], "csv": ["*.csv"], "zip": ["*.zip"]}
_PACKED = ("", ".gz", ".zst")


def open_container(stream: BinaryIO, dialect: dict[str, Any]) -> ContainerReader:
    """The reader of a stream's rows. Raises `UnreadableContainer` where the bytes are not the container declared."""
    packed = packing(stream)
    stream = unpack(stream)
    start = stream.read(6)
    stream.seek(0)
    is_zip = start[:4] in _ZIP
    if is_zip and packed:
        raise UnreadableContainer(f"it is a zip archive that is packed by {packed} as well: unpack it first")
    given = [container for container in dialect["container"] if (container["kind"] == "zip") == is_zip]
    for magic, name in _COMPRESSED.items():
        if start.startswith(magic):
            raise UnreadableContainer(f"it is compressed by {name}: unpack it first, or pack it by gzip")
    if not given:
        kinds = " or ".join(container["kind"] for container in dialect["container"])
        raise UnreadableContainer(f"it is {'a' if is_zip else 'no'} zip archive, and the dialect declares {kinds}")
    nan = dialect.get("nan", False)
    container, document = (given[0], None) if len(given) == 1 else _fitting(stream, given, nan=nan)
    stream.seek(0)
    match container["kind"]:
        case "zip":
            described = container.get("document", [])
            each = container.get("each", "document")
            return ArchiveReader(stream, members=container.get("members", "*"), each=each, document=described, nan=nan)
        case "csv":
            return CsvReader(stream, delimiter=container.get("delimiter", ","), columns=container.get("columns"))
        case "jsonl":
            return JsonLinesReader(stream, nan=nan, document_row=dialect.get("document_row"))
    reader = document or JsonReader(stream, nan=nan)
    reader.places = _places(container)
    return reader


def _fitting(stream: BinaryIO, given: list[dict[str, Any]], *, nan: bool) -> tuple[dict[str, Any], JsonReader | None]:
    """The first container that fits, and the document where it was read for that."""
    kinds = [container["kind"] for container in given]
    line, *others = _first_lines(stream)
    beginnings = {other[:1] for other in others}
    if line[:1] not in (b"{", b"["):
        if "csv" in kinds or ("jsonl" in kinds and b"{" in beginnings):
            return given[kinds.index("csv" if "csv" in kinds else "jsonl")], None
        raise UnreadableContainer(
            f"it does not begin like JSON, and the dialect declares {' or '.join(dict.fromkeys(kinds))}: "
            "a table of cells needs --container csv and a dialect that names its columns"
            if line
            else "it is empty"
        )
    lines = line not in (b"{", b"[") and (line[:1] == b"{" or b"{" in beginnings)
    """Whether the file may be JSON lines."""
    complete = parse_row(line, nan=True)[1] == ""
    document = None
    if "json" in kinds and not (lines and complete and others and "jsonl" in kinds):
        stream.seek(0)
        try:
            document = JsonReader(stream, nan=nan)
        except UnreadableContainer:
            if not (lines and "jsonl" in kinds):
                raise
    for container in given:
        if container["kind"] == "json" and document is not None and leads(document.document, _places(container)):
            return container, document
        if container["kind"] == "jsonl" and lines and (complete or document is None):
            return container, None
    if document is None:
        return given[0], None
    places = " or ".join(place for one in given if one["kind"] == "json" for place in _places(one))
    raise UnreadableContainer(f"no row stands at {places}: name the place with --container, such as json:/data/*")


def _first_lines(stream: BinaryIO) -> list[bytes]:
    """The first lines that hold something, without white space around them; at least one, which may be empty."""
    found: list[bytes] = []
    size = 0
    while len(found) < _LINES and size <= MAX_ROW_BYTES and (line := stream.readline(MAX_ROW_BYTES + 1)):
        size += len(line)
        if line := line.removeprefix(_MARK).strip():
            found.append(line if not found else line[:1])
    return found or [b""]


def _places(container: dict[str, Any]) -> list[str]:
    return [container.get("rows", "/*"), *container.get("more_rows", [])]


def file_globs(dialect: dict[str, Any] | None) -> list[str]:
    """Return globs for the names of the files in a folder that the dialect reads."""
    if dialect is None or "container" not in dialect:
        return ["*.json"]
    if "names" in dialect:
        return list(dialect["names"])
    found = [
        glob + packed
        for container in dialect["container"]
        for glob in _SUFFIXES[container["kind"]]
        for packed in (_PACKED if container["kind"] != "zip" else ("",))
    ]
    return list(dict.fromkeys(found))
