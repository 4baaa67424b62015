"""A path that is not there is answered with those that may have been meant."""

import pytest

from zeno.results.suggestions import similar

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
