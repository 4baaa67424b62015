"""A path that is not there is answered with those that may have been meant."""

import pytest

from zeno.results.suggestions import MAX_PAIRS, similar

PATHS = sorted(["README.md", "docs/guide.md", "src/app.py", "src/util/text.py", "src/vendor/text.py", "test/app.py"])


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("readme.md", ["README.md"]),
        ("text.py", ["src/util/text.py", "src/vendor/text.py"]),
        ("vendor/text.py", ["src/vendor/text.py", "src/util/text.py"]),
        ("./src//App.py", ["src/app.py"]),
        ("src/apps.py", ["src/app.py"]),
        ("src/nothing.rs", []),
        ("..", []),
        ("/", []),
    ],
)
def test_the_same_name_elsewhere_comes_before_a_similar_one(asked, meant):
    assert similar(asked, PATHS) == meant


@pytest.mark.parametrize("op", ["read_file", "peek", "extract_symbols"])
def test_the_message_tells_what_was_meant(root, ask, op):
    (root / "src").mkdir()
    (root / "src" / "app.py").write_text("text\n")
    error = ask(op, path="app.py")["error"]
    assert error["code"] == "not_found"
    assert "did you mean 'src/app.py'?" in error["message"]
    assert "mean" not in ask(op, path="zzz")["error"]["message"]
    assert ask(op, path="../app.py")["error"]["code"] == "path_outside_root"


def test_long_names_are_compared_only_up_to_a_number_of_characters():
    """Two thousand names of two hundred equal letters took seconds."""
    asked = "a" * 200 + "x"
    names = [f"{'a' * 200}{number:04}" for number in range(2000)]
    compared = MAX_PAIRS // (len(names[0]) * len(asked))
    assert 10 < compared < len(names)
    last = "a" * 200 + "xy"
    assert last in similar(asked, [*names[: compared - 1], last])
    assert last not in similar(asked, [*names[:compared], last])
