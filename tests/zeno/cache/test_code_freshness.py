"""Answers about code are the same warm and cold, whatever happens to the files in between."""

import json

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.planting import prepare, without_metrics
from zeno.cache.warm_corpus import WarmCorpus
from zeno.files.tree import Tree
from zeno.search.corpus import ColdCorpus
from zeno.session.server import Server

PATHS = ("a.py", "b.py", "c/d.go", "e.txt")
LINES = (
    "class Shape:",
    "    def area(self):",
    "        return area(Shape)  # area",
    "def area(): ...",
    "type Shape struct{}",
    "func (s *Shape) area() {}",
    "def outer(): area()",
    "def top(): outer()",
    "import area",
    'x = "Shape"',
    "(",
    "",
)
TEXTS = st.lists(st.sampled_from(LINES), min_size=1, max_size=6).map(
    lambda lines: "".join(f"{line}\n" for line in lines)
)
EDITS = st.lists(st.tuples(st.sampled_from(PATHS), TEXTS | st.none()), min_size=1, max_size=4)
NAMES = ("area", "Shape", "Shape.area", "Shape.", "nothing")
QUESTIONS = [
    *(("find_symbols", {"name": name}) for name in NAMES),
    ("find_symbols", {"name": "AREA", "case_sensitive": False}),
    ("find_symbols", {}),
    *(("find_references", {"name": name, "context": 1, "callers": 2}) for name in NAMES if "." not in name),
    *(("grep", {"pattern": name, "scope": True}) for name in NAMES),
]


def _ask(server):
    lines = [json.dumps({"id": "1", "op": op, "args": args}).encode() for op, args in QUESTIONS]
    return [without_metrics(json.loads(server.answer(line))) for line in lines]


def _edit(root, edits):
    for path, text in edits:
        file = root / path
        file.parent.mkdir(exist_ok=True)
        if text is None:
            file.unlink(missing_ok=True)
        else:
            file.write_text(text)


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(EDITS, min_size=1, max_size=3))
def test_a_server_that_keeps_facts_answers_as_one_that_does_not(root, room_to_watch, steps):
    _edit(root, [(path, None) for path in PATHS])
    with Tree(str(root)) as tree:
        corpus = WarmCorpus(tree, 1 << 20)
        prepare(corpus)
        for step, edits in enumerate(steps):
            _edit(root, edits)
            cold = ColdCorpus(tree)
            expected = _ask(Server(cold))
            cold.close()
            if step % 2:
                assert _ask(Server(corpus)) == expected
            # Once more, from what was read and parsed ahead; texts of the last step may be new or known.
            prepare(corpus)
            assert _ask(Server(corpus)) == expected
        corpus.close()
