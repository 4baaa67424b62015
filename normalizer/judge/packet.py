"""The judge's input: the content of one evaluated file, the active rules, the active scale, and nothing else.

Nothing here sees a manifest's strings: rules and scale come from the phase, the relaxations and the rubric alone, and
the file part from the file's bytes alone. That is what `leaks` checks again on the finished input.
"""

import base64
import hashlib
import json
from typing import Any, NamedTuple

import contract_spec as spec

from normalizer.documents import phases
from normalizer.documents.rubric import rubric_of
from normalizer.errors import CannotRun

RULES = "rules/judging.json"
_PDF = b"%PDF-"
# A PDF may have some bytes before its header; readers look for it in the first kilobyte.
_PDF_HEADER_WITHIN = 1024


class Prompt(NamedTuple):
    """The rules and the scale that a judge is told, equal for every file of a run."""

    rules: str
    scale: str

    @property
    def sha256(self) -> str:
        """SHA-256 of the prompt."""
        return hashlib.sha256(f"{self.rules}\0{self.scale}".encode()).hexdigest()


class Unreadable(CannotRun):
    """A file, or the file part of an input, that is neither a text nor a PDF."""


def prompt(phase: int, relaxations: list[dict[str, str]], rubric: dict[str, Any]) -> Prompt:
    """Rules and scale of a run, from its phase, its relaxations and its rubric's document."""
    return Prompt(_rules(phase, relaxations), _scale(rubric))


def packet(told: Prompt, content: bytes) -> bytes:
    """The input for one evaluated file, as a command gets it: JSON with three members."""
    document = {"rules": told.rules, "scale": told.scale, "file": file_part(content)}
    return json.dumps(document, separators=(",", ":")).encode()


def file_part(content: bytes) -> dict[str, str]:
    """The file part of an input. The kind (text or PDF) is told by the bytes, never by the name."""
    if content.startswith(_PDF):
        return _document(content)
    try:
        return {"media_type": "text/plain", "text": fence(content.decode())}
    except UnicodeDecodeError as error:
        if _PDF in content[: _PDF_HEADER_WITHIN + len(_PDF)]:
            return _document(content)
        raise Unreadable(
            f"it is neither a PDF nor UTF-8 text (invalid byte at offset {error.start}): convert it before the run"
        ) from None


def is_text(data: bytes) -> bool:
    """Whether an input carries a text, rather than a PDF."""
    return data.endswith(b'-----"}}')


def content_of(document: dict[str, Any]) -> bytes:
    """The evaluated file's bytes, back from an input."""
    part = document["file"]
    if "base64" in part:
        try:
            return base64.b64decode(part["base64"], validate=True)
        except ValueError as error:
            raise Unreadable(f"the file part of the input is not base64: {error}") from None
    text = part["text"].partition("\n")[2].rpartition("\n")[0]
    if part["text"] != fence(text):
        raise Unreadable("the text in the input does not stand between its own markers")
    content: bytes = text.encode()
    return content


def fence(text: str) -> str:
    """The text between two lines that carry its marker."""
    marker = marker_of(text)
    return f"-----BEGIN {marker}-----\n{text}\n-----END {marker}-----"


def marker_of(text: str) -> str:
    """A marker that depends on every character of the text, so that no text can be written to hold its own."""
    salt = 0
    while True:
        # Not the plain hash of the file: that one a manifest may name.
        marker = hashlib.sha256(b"judge input marker %d\n" % salt + text.encode()).hexdigest()[:32]
        if marker not in text:
            return marker
        salt += 1


def _document(content: bytes) -> dict[str, str]:
    return {"media_type": "application/pdf", "base64": base64.b64encode(content).decode()}


def _rules(phase: int, relaxations: list[dict[str, str]]) -> str:
    said = spec.resource(RULES)
    relaxed = frozenset(item["constraint"] for item in relaxations if "constraint" in item)
    lines = [f"- {sentence}" for sentence in [*said["rules"], *phases.statements(phase, relaxed)]]
    if relaxations:
        lines += ["", said["relaxations"], *(f"- {item['statement']}" for item in relaxations)]
    return "\n".join([*lines, "", *(f"- {sentence}" for sentence in said["reply"])])


def _scale(rubric: dict[str, Any]) -> str:
    """The scale in words. The rubric's name is left out: it is the run's, and says nothing about the scale."""
    scales = rubric_of(rubric).dimensions
    blocks = [rubric["description"]] if rubric.get("description") else []
    for key, given in rubric["dimensions"].items():
        title = f" ({given['title']})" if "title" in given else ""
        lines = [f"{key}{title}: {scales[key].scale.words}."]
        lines += [given["description"]] if given.get("description") else []
        lines += [f"- {level}: {meaning}" for level, meaning in given.get("levels", {}).items()]
        lines += ["Evidence is required."] if scales[key].evidence_required else []
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)
