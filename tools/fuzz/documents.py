"""Targets that read JSON documents: strict JSON, the lossless reader, dialects and manifests."""

import json
from typing import Any

import contract_spec as spec

from normalizer.documents import lossless, settings
from normalizer.documents.lossless import Number
from normalizer.documents.pointers import DialectStep, translate, undo
from normalizer.errors import UnusableDocument
from tools.fuzz.target import Target

_DEPTH = 64


def strict(data: bytes) -> None:
    """Strict JSON accepts a part of what Python's parser accepts, with equal values, and refuses in one way only."""
    try:
        value = spec.parse(data, max_depth=_DEPTH)
    except spec.NotStrictJson:
        return
    assert json.loads(data.decode()) == value
    again = json.dumps(value, ensure_ascii=False, allow_nan=False)
    assert spec.parse(again.encode(), max_depth=_DEPTH) == value


def keeps_spelling(data: bytes) -> None:
    """The lossless reader accepts at least what the strict one does, and what it writes reads back as equal."""
    try:
        value = lossless.parse(data, _DEPTH)
    except spec.NotStrictJson:
        try:
            spec.parse(data, max_depth=_DEPTH)
        except spec.NotStrictJson:
            return
        raise AssertionError("the lossless reader refuses what the strict one accepts") from None
    written = lossless.dumps(value)
    assert written.isascii()
    assert lossless.parse(written.encode(), _DEPTH) == value
    assert lossless.dumps(lossless.parse(written.encode(), _DEPTH)) == written
    assert _numbers_of(value) == _numbers_of(json.loads(data, parse_int=Number, parse_float=Number))
    json.dumps(lossless.to_builtin(value), allow_nan=False)


def _numbers_of(value: Any) -> list[str]:
    if isinstance(value, Number):
        return [str(value)]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [number for one in inner for number in _numbers_of(one)]


def moves(data: bytes) -> None:
    """The moves of a dialect can be undone: every member is back in its place."""
    first, _, second = data.partition(b"\0")
    try:
        steps, value = lossless.parse(first, _DEPTH), lossless.parse(second, _DEPTH)
    except spec.NotStrictJson:
        return
    if not isinstance(value, dict) or spec.violations(
        "eval/dialect.json", {"name": "x", "bundle": lossless.to_builtin(steps)}
    ):
        return
    before = lossless.dumps(value)
    done = translate(value, tuple(DialectStep(step["take"], step.get("put")) for step in steps))
    assert lossless.dumps(value) == before, "the value that was given must not change"
    assert lossless.dumps(undo(done.value, done.done, done.aside)) == before


def dialect(data: bytes) -> None:
    """A dialect is refused in one way only, or is one that its schema accepts."""
    try:
        document = settings.check_dialect(data)
    except UnusableDocument:
        return
    assert not spec.violations("eval/dialect.json", lossless.to_builtin(document))


def manifest(data: bytes) -> None:
    """A manifest is refused in one way only, or makes settings that its own text makes again."""
    try:
        made = settings.load(manifest=data)
    except UnusableDocument:
        return
    text = made.documents[made.identity["manifest"]]
    assert settings.load(manifest=text.encode()).identity == made.identity


_JSON = (*rb'{} [] "\ud800" 1e400 -0 0.1e-5 NaN {"a":1,"a":2} \u0000 [[[['.split(), b"\xef\xbb\xbf")
_MANIFEST = b'{"files":[{"file":"a.json","judge":"j","phase":1}],"relaxations":[]}'
_MOVES = b'[{"take":"/a","put":"/b/c"},{"take":"/d"}]\0{"a":1,"b":{},"d":[2]}'
_DIALECT = b'{"name":"x","bundle":[{"take":"/a","put":"/b"}],"entry":[{"take":"/c"}]}'
_VECTOR = "a case in {}"
TARGETS = {
    "strict": Target(strict, (b'{"a":[1,2.5,"x"]}', *_JSON), _JSON, _VECTOR.format("tests/spec/test_strict.py")),
    "lossless": Target(
        keeps_spelling,
        (b'{"a":[1,2.50,"x"]}', *_JSON),
        _JSON,
        _VECTOR.format("tests/normalizer/documents/test_lossless.py"),
    ),
    "moves": Target(
        moves,
        (_MOVES,),
        (b'{"take":"/', b'"put":"/', b"~0", b"~1", b"/a/b", *_JSON),
        _VECTOR.format("tests/normalizer/documents/test_dialect.py"),
    ),
    "dialect": Target(
        dialect,
        (_DIALECT,),
        (b'"container"', b'"fields"', b'"bundle"', b'"entry"', b'"rubric"', *_JSON),
        _VECTOR.format("tests/normalizer/documents/test_dialect.py"),
    ),
    "manifest": Target(
        manifest,
        (_MANIFEST,),
        (b'"files"', b'"file"', b'"relaxations"', b'"constraint"', b'"rubric"', b'"phase"', *_JSON),
        "a case in tests/conformance/normalizer",
    ),
}
