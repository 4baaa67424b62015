"""Vectors: requests to a server over a tree, and the answers it must give. Reads them and checks answers."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.kit.trees import Entry, Site, content

HOME = Path(__file__).resolve().parents[2] / "tests" / "conformance"
METRICS = ("time_ms", "bytes_read", "files_scanned")
# Result fields beyond the plain protocol: compared only if a vector has them.
ADDITIONS = (
    *("complete", "cursor", "files_digest", "files_selected", "hints", "left_out", "policy"),
    *("skipped", "skipped_files"),
)


@dataclass(frozen=True)
class Send:
    """Lines to write to the server, one after the other without waiting."""

    lines: Sequence[Mapping[str, Any]]

    def payload(self, site: Site) -> bytes:
        """The bytes to write, each line with its line feed."""
        return b"".join(_line(line, site) + b"\n" for line in self.lines)


@dataclass(frozen=True)
class Change:
    """A change of the tree, made when all lines before it are answered and before any after it are sent."""

    entries: Sequence[Entry]


@dataclass(frozen=True)
class Vector:
    """One fact about a server."""

    suite: str
    description: str
    spec: str
    kind: str
    corpus: str
    requires: tuple[str, ...]
    flags: tuple[str, ...]
    steps: tuple[Send | Change, ...]
    answers: tuple[Mapping[str, Any], ...]
    input_ends: bool

    @property
    def name(self) -> str:
        """How tests and reports call it."""
        return f"{self.suite}: {self.description}"

    @property
    def sent(self) -> list[str]:
        """The lines as a report shows them: placeholders as they are, long ones cut."""
        return [
            _short(line.get("json", line.get("text", line)))
            for step in self.steps
            for line in (step.lines if isinstance(step, Send) else [{"text": "(a change of the tree)"}])
        ]

    @property
    def alone(self) -> bool:
        """Whether it needs a tree and a server of its own: flags, a change of the tree, or the end of the input."""
        return bool(self.flags) or self.input_ends or any(isinstance(step, Change) for step in self.steps)


def read(home: Path = HOME) -> list[Vector]:
    """All vectors, in the order of their files."""
    return [
        _vector(path.stem, each)
        for path in sorted((home / "zeno").glob("*.json"))
        for each in json.loads(path.read_bytes())["vectors"]
    ]


def corpus(name: str, home: Path = HOME) -> Mapping[str, Any]:
    """A corpus by its name."""
    loaded: Mapping[str, Any] = json.loads((home / "corpora" / f"{name}.json").read_bytes())
    return loaded


def _vector(suite: str, given: Mapping[str, Any]) -> Vector:
    if "request" in given:
        steps: Sequence[Send | Change] = [Send([{"json": given["request"]}])]
        expected = {
            key: given[key] for key in ("result", "error", "message", "not_compared", "metrics") if key in given
        }
        answers = [{"id": given["request"]["id"], **expected}]
    else:
        steps = [Change(step["change"]) if "change" in step else Send(step["send"]) for step in given["steps"]]
        answers = given["answers"]
    return Vector(
        suite,
        given["description"],
        given["spec"],
        given["kind"],
        given["corpus"],
        tuple(given.get("requires", ())),
        tuple(given.get("flags", ())),
        tuple(steps),
        tuple(answers),
        given.get("input_ends", False),
    )


def _line(line: Mapping[str, Any], site: Site) -> bytes:
    if "json" in line:
        return json.dumps(_filled(line["json"], site)).encode()
    if "pieces" in line:
        return b"".join(_line(piece, site) * piece.get("times", 1) for piece in line["pieces"])
    return site.fill(line["text"]).encode() if "text" in line else content(line)


def _filled(value: Any, site: Site) -> Any:
    if isinstance(value, str):
        return site.fill(value)
    if isinstance(value, list):
        return [_filled(item, site) for item in value]
    if isinstance(value, dict):
        return {key: _filled(item, site) for key, item in value.items()}
    return value


# Checking answers


def disagreements(vector: Vector, lines: Sequence[bytes]) -> list[str]:
    """How the lines that came back differ from what must come back; nothing where they agree."""
    found = [
        f"answer {index}: {difference}" if len(vector.answers) > 1 else difference
        for index, (expected, line) in enumerate(zip(vector.answers, lines, strict=False), 1)
        for difference in compare(expected, line)
    ]
    if len(lines) != len(vector.answers):
        found.append(f"expected {len(vector.answers)} answer lines, got {len(lines)}")
    return found


def compare(expected: Mapping[str, Any], line: bytes) -> Iterator[str]:
    """How an answer line differs from the answer that a vector expects."""
    try:
        answer = json.loads(line.decode("utf-8"), object_pairs_hook=_object, parse_constant=_no_constant)
        json.dumps(answer, ensure_ascii=False).encode()  # half a surrogate pair is refused here
    except (ValueError, RecursionError) as error:
        yield f"the answer is not strict JSON ({error}): {line[:200]!r}"
        return
    body = "error" if "error" in expected else "result"
    if not isinstance(answer, dict) or answer.keys() != {"id", "ok", body}:
        wanted = f"the error {expected['error']}" if body == "error" else "a result"
        yield f"expected {wanted}, in an object of id, ok and {body}; got {_short(answer)}"
        return
    yield from differences(expected["id"], answer["id"], "id")
    yield from differences(body == "result", answer["ok"], "ok")
    yield from (_in_error if body == "error" else _in_result)(expected, answer[body])


def _in_error(expected: Mapping[str, Any], error: Any) -> Iterator[str]:
    if not isinstance(error, dict) or error.keys() != {"message", "code"}:
        yield f"error: expected an object of message and code, got {_short(error)}"
        return
    yield from differences(expected["error"], error["code"], "error.code")
    if not isinstance(error["message"], str) or not error["message"]:
        yield f"error.message: expected a sentence, got {_short(error['message'])}"
    elif "message" in expected:
        yield from differences(expected["message"], error["message"], "error.message")


def _in_result(expected: Mapping[str, Any], result: Any) -> Iterator[str]:
    if not isinstance(result, dict) or not isinstance(result.get("metrics"), dict):
        yield f"result: expected an object with metrics, got {_short(result)}"
        return
    metrics = result.pop("metrics")
    for name in METRICS:
        if type(metrics.get(name)) is not int or metrics[name] < 0:
            yield f"result.metrics.{name}: expected a whole number, got {_short(metrics.get(name))}"
    for name, value in expected.get("metrics", {}).items():
        yield from differences(value, metrics.get(name), f"result.metrics.{name}")
    for pointer in expected.get("not_compared", ()):
        if not _removed(result, pointer.split("/")[1:]):
            yield f"result: expected a value at {pointer}, there is none"
    for name in ADDITIONS:
        if name not in expected["result"]:
            result.pop(name, None)
    yield from differences(expected["result"], result, "result")


def _removed(value: Any, steps: Sequence[str]) -> bool:
    """Take what is at a JSON pointer out of a value; whether there was something."""
    *way, last = steps
    for step in way:
        if isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        elif isinstance(value, dict) and step in value:
            value = value[step]
        else:
            return False
    return isinstance(value, dict) and value.pop(last, None) is not None


def differences(expected: Any, got: Any, where: str) -> Iterator[str]:
    """Where two JSON values differ. Numbers are compared by value, `true` is not 1, the order of keys is nothing."""
    if isinstance(expected, dict) and isinstance(got, dict):
        for key in sorted(expected.keys() | got.keys()):
            if key not in got:
                yield f"{where}.{key}: missing"
            elif key not in expected:
                yield f"{where}.{key}: not expected, got {_short(got[key])}"
            else:
                yield from differences(expected[key], got[key], f"{where}.{key}")
    elif isinstance(expected, list) and isinstance(got, list) and len(expected) == len(got):
        for index, pair in enumerate(zip(expected, got, strict=True)):
            yield from differences(*pair, f"{where}[{index}]")
    elif _type(expected) is not _type(got) or expected != got:
        yield f"{where}: expected {_short(expected)}, got {_short(got)}"


def _type(value: Any) -> type:
    return float if type(value) is int else type(value)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a key stands twice in one object")
    return dict(pairs)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 300 else f"{text[:300]}... ({len(text)} characters)"
