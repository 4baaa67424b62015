"""Seals: citations get the lines of what they name, and the digest of what these say."""

from hashlib import sha256

import pytest

from zeno.errors import InvalidArgs, NotFound
from zeno.files.tree import Tree
from zeno.meter import Meter
from zeno.results.seals import seal

TEXT = "import a\n\n@a\ndef f():\n    return 1\n\n\nclass A:\n    def g(self): ...\n    def g(self): ...\n"


@pytest.fixture
def tree(tmp_path):
    (tmp_path / "a.py").write_text(TEXT)
    with Tree(tmp_path) as tree:
        yield tree


def digest(text):
    return sha256(text.encode()).hexdigest()


def test_lines_are_sealed_with_what_they_say(tree):
    sealed = seal({"path": "a.py", "start_line": 1, "end_line": 1}, tree, Meter())
    assert sealed == {"path": "a.py", "start_line": 1, "end_line": 1, "sha256": digest("import a")}


def test_a_definition_is_sealed_with_its_lines(tree):
    sealed = seal({"path": "a.py", "symbol": "f"}, tree, Meter())
    expected = {"start_line": 3, "end_line": 5, "sha256": digest("@a\ndef f():\n    return 1")}
    assert sealed == {"path": "a.py", "symbol": "f", **expected}


@pytest.mark.parametrize(
    ("citation", "error"),
    [
        ({"symbol": "gone"}, NotFound),
        ({"symbol": "g"}, InvalidArgs),
        ({"start_line": 3}, InvalidArgs),
        ({"start_line": 1, "end_line": 99}, InvalidArgs),
    ],
    ids=str,
)
def test_what_is_not_there_cannot_be_sealed(tree, citation, error):
    with pytest.raises(error):
        seal({"path": "a.py", **citation}, tree, Meter())
