"""The check that an input gives nothing away: no string of the manifest stands in it outside the file's own content.

Two things are shown for every input. First, cut out the file's content and what is left is the run's prompt, to the
character: the same for every file, so that nothing about one file can be in it. Second, no string of the manifest
stands in that prompt. Where one does, it is either the prompt's own ordinary text (in words that this program brings
along, or too short to be told from ordinary text): then it is a coincidence, noted in the run. Or a person wrote it
into the rubric or a relaxation: then the run is refused, unless the string is declared to be an ordinary word there.
"""

import re
from collections.abc import Iterator
from typing import Any

import contract_spec as spec

from normalizer.documents.lossless import dumps, parse, plain
from normalizer.documents.manifest import Manifest
from normalizer.documents.settings import BUILT_IN_RUBRIC, LIMITS
from normalizer.errors import CannotRun
from normalizer.judge.packet import Prompt, content_of

SHORT = 3
"""Strings up to this length stand in any text by chance."""


class Leak(CannotRun):
    """An input would tell the judge more than it may know."""


def strings_of(manifest: Manifest) -> dict[str, str]:
    """Every string of a manifest that no judge may see, and what it is there. Relaxations are meant to be seen."""
    found: dict[str, str] = {}
    for owner in (manifest.metadata, *manifest.files.values()):
        for key, value in owner.items():
            for text, what in _strings(key, value):
                found.setdefault(text, what)
    return found


def _strings(key: str, value: Any) -> Iterator[tuple[str, str]]:
    if key == "factors":
        for name, level in value.items():
            yield name, "the name of a factor"
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
    """The strings that stand in the prompt, or in what else a request carries, as ordinary text, sorted; raises Leak
    for one that a person put there."""
    carried = list(_all_strings(parameters))
    people = [("a relaxation", item["statement"]) for item in manifest.relaxations]
    people += [("--parameters", text) for text in carried]
    if plain(rubric) != spec.resource(BUILT_IN_RUBRIC):
        people += [("the rubric", text) for text in _texts(rubric)]
    strings = strings_of(manifest)
    if judge_model is not None:
        strings.setdefault(judge_model, "the judge's name")
    noted = [text for text in strings if text and any(text in part for part in (*told, *carried))]
    for text in noted:
        written = next((place for place, said in people if text in said), None)
        if written is not None and len(text) > SHORT and text not in declared:
            raise Leak(
                f"{written} tells the judge {dumps(text)}, which the run has as {strings[text]}: take it out of there, "
                f"or say --coincidence {dumps(text)} if it is an ordinary word"
            )
    return sorted(noted)


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


def check(data: bytes, content: bytes, told: Prompt) -> None:
    """Raise Leak unless a finished input holds only the file's content and the run's prompt."""
    document = parse(data, LIMITS["max_depth"])
    for violation in spec.violations("eval/judge_input.json", plain(document)):
        raise Leak(f"the input is not made of its three parts: {violation.pointer} {violation.message}")
    if content_of(document) != content:
        raise Leak("the file part of the input is not the file's content")
    if (document["rules"], document["scale"]) != told:
        raise Leak("what the input says besides the file's content is not the run's rules and scale")
