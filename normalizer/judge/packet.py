"""The judge's input: the content of one evaluated file, the active rules, the active scale, and the declared task.

No function here is given a whole manifest. Rules and scale come from the phase, the relaxations and the rubric alone,
and the file part from the file's bytes alone. The task is the question and the reference that the manifest declares for
the file. `leaks` checks this again on the finished input.
"""

import base64
import hashlib
import json
from typing import Any, NamedTuple

import contract_spec as spec

from normalizer.documents import protocol
from normalizer.documents.rubric import rubric_of
from normalizer.errors import CannotRun

RULES = "rules/judging.json"
_PDF = b"%PDF-"
# A PDF may have some bytes before its header; readers look for it in the first kilobyte.
_PDF_HEADER_WITHIN = 1024


class Prompt(NamedTuple):
    """The rules and the scale that a judge is given, equal for every file of a run."""

    rules: str
    scale: str

    @property
    def sha256(self) -> str:
        """SHA-256 of the prompt."""
        return hashlib.sha256(f"{self.rules}\0{self.scale}".encode()).hexdigest()


TASK = ("question", "reference")
"""Texts that a manifest may declare for each file, in their order in an input."""


class UnreadableInput(CannotRun):
    """A file, or the file part of an input, that is neither a text nor a PDF."""


def prompt(phase: int, relaxations: list[dict[str, str]], rubric: dict[str, Any], task: tuple[str, ...] = ()) -> Prompt:
    """Rules and scale of a run. `task` names the texts of `TASK` that every file of the run has."""
    return Prompt(_rules(phase, relaxations, task), _scale(rubric))


def packet(told: Prompt, content: bytes, task: dict[str, str] | None = None) -> bytes:
    """The input for one evaluated file, as a command gets it: JSON with rules, scale, the task if any, and the file."""
    stated = {"task": task_part(task)} if task else {}
    document = {"rules": told.rules, "scale": told.scale, **stated, "file": file_part(content)}
    return json.dumps(document, separators=(",", ":")).encode()


def task_part(task: dict[str, str]) -> dict[str, str]:
    """The task part of an input: each text between lines with its marker."""
    return {name: fence(task[name]) for name in TASK if name in task}


def file_part(content: bytes) -> dict[str, str]:
    """The file part of an input. The kind (text or PDF) is determined from the bytes, never from the name."""
    if content.startswith(_PDF):
        return _document(content)
    try:
        return {"media_type": "text/plain", "text": fence(content.decode())}
    except UnicodeDecodeError as error:
        if _PDF in content[: _PDF_HEADER_WITHIN + len(_PDF)]:
            return _document(content)
        raise UnreadableInput(
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
            raise UnreadableInput(f"the file part of the input is not base64: {error}") from None
    text = part["text"].partition("\n")[2].rpartition("\n")[0]
    if part["text"] != fence(text):
        raise UnreadableInput("the text in the input does not stand between its own markers")
    content: bytes = text.encode()
    return content


def fence(text: str) -> str:
    """The text between two lines that carry its marker."""
    marker = marker_of(text)
    return f"-----BEGIN {marker}-----\n{text}\n-----END {marker}-----"


def marker_of(text: str) -> str:
    """Return a marker that depends on every character of the text, so that no text can contain its own marker."""
    salt = 0
    while True:
        # Not the plain hash of the file, which a manifest may name.
        marker = hashlib.sha256(b"judge input marker %d\n" % salt + text.encode()).hexdigest()[:32]
        if marker not in text:
            return marker
        salt += 1


def _document(content: bytes) -> dict[str, str]:
    return {"media_type": "application/pdf", "base64": base64.b64encode(content).decode()}


def _rules(phase: int, relaxations: list[dict[str, str]], task: tuple[str, ...]) -> str:
    said = spec.resource(RULES)
    relaxed = frozenset(item["constraint"] for item in relaxations if "constraint" in item)
    rules = said["rules"]
    if task:
        rules = [said["task"]["given"], *rules[1:], *(said["task"][name] for name in task)]
    lines = [f"- {sentence}" for sentence in [*rules, *protocol.statements(phase, relaxed)]]
    if relaxations:
        lines += ["", said["relaxations"], *(f"- {item['statement']}" for item in relaxations)]
    return "\n".join([*lines, "", *(f"- {sentence}" for sentence in said["reply"])])


def _scale(rubric: dict[str, Any]) -> str:
    """The scale in words. The rubric's name is left out: it identifies the run and says nothing about the scale."""
    scales = rubric_of(rubric).dimensions
    blocks = [rubric["description"]] if rubric.get("description") else []
    for key, given in rubric["dimensions"].items():
        title = f" ({given['title']})" if "title" in given else ""
        lines = [f"{key}{title}: {scales[key].scale.words}."]
        lines += [given["description"]] if given.get("description") else []
        lines += [f"- {level}: {meaning}" for level, meaning in given.get("levels", {}).items()]
        lines += ["Evidence is required."] if scales[key].evidence_required else []
        lines += ["Leave it out where it does not apply."] if scales[key].optional else []
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)
