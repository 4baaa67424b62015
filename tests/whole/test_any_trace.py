"""Traces that anybody may have written: whatever the schema lets pass, no command stumbles over it."""

import io
import json
from typing import Any

import contract_spec as spec
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.support.strategies import valid
from zeno.files.tree import Tree
from zeno.search.corpus import ColdCorpus
from zeno.session.dispatch import OPS
from zeno.trace.coverage import coverage
from zeno.trace.events import KINDS, Pairing, exchanges, read
from zeno.trace.lint import lint
from zeno.trace.page.view import page
from zeno.trace.replay import Replayer, replay
from zeno.trace.verify import verify

NAME = "zeno/trace_event.json"
# Few ids, real operations and real paths, so that events meet; values of every type where arguments are wanted.
IDS = st.sampled_from(["a", "b", "a/b"])
DIGESTS = st.sampled_from(["0" * 64, "1" * 64])
ARGS: st.SearchStrategy[Any] = st.dictionaries(
    st.sampled_from(["path", "paths", "pattern", "start_line", "end_line", "max_hits", "cursor", "glob", "context"]),
    st.sampled_from(["f.txt", "none", "../x", "\0", "(", [], ["f.txt"], [3], 0, 1, 2.0, 2**60, None, True, {"x": []}]),
    max_size=4,
)


@st.composite
def event(draw):
    kind = draw(st.sampled_from(KINDS))
    value = draw(valid(NAME, spec.schema(NAME)["$defs"][kind]))
    if kind in ("request", "response", "error"):
        value["op"] = draw(st.sampled_from([*sorted(OPS), "sing"]))
    if kind == "request":
        value["args"] = draw(ARGS)
    if "id" in value and draw(st.integers(0, 4)):
        value["id"] = draw(IDS)
    for citation in value.get("evidence", []):
        citation["path"] = draw(st.sampled_from(["f.txt", "none", "../x", "\0"]))
    for answer in value.get("answers", []):
        answer |= {"id": draw(IDS), "digest": draw(DIGESTS)}
    return value


@st.composite
def exchange(draw):
    """A request that was answered, however little sense it makes."""
    define = spec.schema(NAME)["$defs"]
    request, response = (draw(valid(NAME, define[kind])) for kind in ("request", "response"))
    request |= {"id": draw(IDS), "op": draw(st.sampled_from([*sorted(OPS), "sing"])), "args": draw(ARGS)}
    response |= {"id": request["id"], "op": request["op"], "digest": draw(DIGESTS)}
    response["summary"]["metrics"]["lines_returned"] = draw(st.integers(0, 5))
    return [request, response]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    root = tmp_path_factory.mktemp("root")
    (root / "f.txt").write_text("one\ntwo\nthree\n")
    with Tree(str(root)) as tree:
        yield ColdCorpus(tree)


@settings(max_examples=60, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(parts=st.lists(event().map(lambda one: [one]) | exchange(), max_size=6), junk=st.binary(max_size=12))
def test_no_command_stumbles_over_a_trace_of_valid_events(corpus, parts, junk):
    events = [event for part in parts for event in part]
    lines = [json.dumps(one).encode() + b"\n" for one in events]
    data = b"".join(lines) + junk

    def steps(pairing=None):
        return exchanges(read(io.BytesIO(data)), pairing or Pairing())

    known = [entry.event for entry in read(io.BytesIO(data)) if entry.event is not None]
    assert len(known) >= len(events)
    list(lint(read(io.BytesIO(data))))
    replay(steps(), Replayer(corpus))
    claims = list(verify(steps(), Replayer(corpus)))
    assert len(claims) == sum(event["event"] == "claim" for event in known)
    coverage(steps(), Replayer(corpus))
    for replayer in (None, Replayer(corpus)):
        pairing = Pairing()
        document, _ = page(steps(pairing), pairing, replayer, title="any", text="delivered")
        assert document.count(b"</script>") == 2
