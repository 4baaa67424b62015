"""Check that an input gives nothing away: no string of the manifest is in it outside the file's own content.

Two things are checked for every input. First, without the file's content and the task that the manifest declares for
the file, the input is exactly the prompt of the run, which is the same for every file. Second, no other string of the
manifest is in the prompt or in a task. If one is, there are two cases. If it is in text that this program brings along,
or too short to be told from ordinary text, it is a coincidence and noted in the run. If a person wrote it into the
rubric, a relaxation or a task, the run is refused, unless the string is declared to be an ordinary word there.
"""

import re
from collections.abc import Iterator
from typing import Any

import contract_spec as spec

from normalizer.documents.lossless import dumps, parse, to_builtin
from normalizer.documents.settings import BUILT_IN_RUBRIC, LIMITS, Manifest
from normalizer.errors import CannotRun
from normalizer.judge.packet import Prompt, content_of, task_part

SHORT = 3
"""Strings up to this length occur in any text by chance."""


class Leak(CannotRun):
    """An input would give the judge more than it may know."""


def strings_of(manifest: Manifest, *, levels: bool = True) -> dict[str, str]:
    """Every string of a manifest that no judge may see, and what it is there. Relaxations are meant to be seen.

    `levels`: the levels of factors, too.
    """
    found: dict[str, str] = {}
    for owner in (manifest.metadata, *manifest.files.values()):
        for key, value in owner.items():
            for text, what in _strings(key, value, levels=levels):
                found.setdefault(text, what)
    return found


def _strings(key: str, value: Any, *, levels: bool) -> Iterator[tuple[str, str]]:
    if key == "factors":
        for name, level in value.items():
            yield name, "the name of a factor"
            if levels:
                yield level, f"a level of the factor {dumps(name)}"
    elif type(value) is str and value:
        yield value, f"a `{key}`"
        if key in ("file", "path", "artifact"):
            steps = re.split(r"[/\\]", value)
            for part in [*steps, *(step.rpartition(".")[0] for step in steps)]:
                if len(part) > SHORT:
                    yield part, f"part of a `{key}`"


def coincidences(
    told: Prompt,
    manifest: Manifest,
    judge_model: str | None,
    rubric: dict[str, Any],
    parameters: dict[str, Any],
    declared: frozenset[str],
) -> list[str]:
    """Return the strings that the prompt, a task or the parameters of a request contain as ordinary text, sorted.

    Raises Leak for one that a person put there.
    """
    carried = list(_all_strings(parameters))
    people = [("a relaxation", item["statement"]) for item in manifest.relaxations]
    people += [("--parameters", text) for text in carried]
    if to_builtin(rubric) != spec.resource(BUILT_IN_RUBRIC):
        people += [("the rubric", text) for text in _texts(rubric)]
    tasks = _tasks(manifest)
    people += [(f"a {name} of the manifest", text) for name, texts in tasks.items() for text in texts]
    # A text that is declared as a whole may also be a level of a factor, but nothing else of the manifest.
    declared_texts = {text for texts in tasks.values() for text in texts}
    only_levels = declared_texts.difference(strings_of(manifest, levels=False))
    strings = {text: what for text, what in strings_of(manifest).items() if text not in only_levels}
    if judge_model is not None:
        strings.setdefault(judge_model, "the judge's name")
    shown = [*told, *carried, *("\0".join(sorted(texts)) for texts in tasks.values())]
    noted = [text for text in strings if text and any(text in part for part in shown)]
    for text in noted:
        written = next((place for place, said in people if text in said), None)
        if written is not None and len(text) > SHORT and text not in declared:
            raise Leak(
                f"{written} tells the judge {dumps(text)}, which the run has as {strings[text]}: take it out of there, "
                f"or say --coincidence {dumps(text)} if it is an ordinary word"
            )
    return sorted(noted)


def _tasks(manifest: Manifest) -> dict[str, set[str]]:
    """All questions and all references of a manifest."""
    found: dict[str, set[str]] = {}
    for file in manifest.files.values():
        for name, text in file.get("task", {}).items():
            found.setdefault(name, set()).add(text)
    return found


def _all_strings(value: Any) -> Iterator[str]:
    """Every string of a JSON value, keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _all_strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _all_strings(inner)


def _texts(rubric: dict[str, Any]) -> Iterator[str]:
    """The texts of a rubric that the judge is given."""
    yield rubric.get("description", "")
    for key, given in rubric["dimensions"].items():
        yield from (key, given.get("title", ""), given.get("description", ""))
        yield from given.get("levels", {}).values()
        yield from given["scale"].get("labels", {})


def refuse_leaks(data: bytes, content: bytes, told: Prompt, task: dict[str, str] | None = None) -> None:
    """Raise Leak unless a finished input holds only the file's content, its declared task and the run's prompt."""
    document = parse(data, LIMITS["max_depth"])
    for violation in spec.violations("eval/judge_input.json", to_builtin(document)):
        raise Leak(f"the input is not made of its parts: {violation.pointer} {violation.message}")
    if content_of(document) != content:
        raise Leak("the file part of the input is not the file's content")
    if document.get("task") != (task_part(task) if task else None):
        raise Leak("the task part of the input is not what the manifest declares for the file")
    if (document["rules"], document["scale"]) != told:
        raise Leak("the input besides the file's content and its task is not the run's rules and scale")
