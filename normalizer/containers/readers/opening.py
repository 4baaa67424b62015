"""Open a file as the container that its dialect declares."""

from typing import Any, BinaryIO

from normalizer.containers.readers.archives import ArchiveReader
from normalizer.containers.readers.documents import JsonReader
from normalizer.containers.readers.lines import JsonLinesReader
from normalizer.containers.readers.rows import ContainerReader, UnreadableContainer
from normalizer.containers.readers.tables import CsvReader

_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_SUFFIXES = {"json": ["*.json"], "jsonl": ["*.jsonl", "*.json"], "csv": ["*.csv"], "zip": ["*.zip"]}


def open_container(stream: BinaryIO, dialect: dict[str, Any]) -> ContainerReader:
    """The reader of a stream's rows. Raises `UnreadableContainer` where the bytes are not the container declared."""
    is_zip = stream.read(4) in _ZIP
    stream.seek(0)
    given = [container for container in dialect["container"] if (container["kind"] == "zip") == is_zip]
    if not given:
        kinds = " or ".join(container["kind"] for container in dialect["container"])
        raise UnreadableContainer(f"it is {'a' if is_zip else 'no'} zip archive, and the dialect declares {kinds}")
    container, nan = given[0], dialect.get("nan", False)
    match container["kind"]:
        case "zip":
            document = container.get("document", [])
            each = container.get("each", "document")
            return ArchiveReader(stream, members=container.get("members", "*"), each=each, document=document, nan=nan)
        case "csv":
            return CsvReader(stream, delimiter=container.get("delimiter", ","))
        case "jsonl":
            return JsonLinesReader(stream, nan=nan, document_row=dialect.get("document_row"))
    return JsonReader(stream, rows=container.get("rows", "/*"), nan=nan)


def file_globs(dialect: dict[str, Any] | None) -> list[str]:
    """Return globs for the names of the files in a folder that the dialect reads."""
    if dialect is None or "container" not in dialect:
        return ["*.json"]
    if "names" in dialect:
        return list(dialect["names"])
    return [glob for container in dialect["container"] for glob in _SUFFIXES[container["kind"]]]
