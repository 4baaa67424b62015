"""Globs against fnmatch, with the two additions stated by a simpler model."""

import contextlib
import fnmatch
import itertools
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from zeno.errors import InvalidArgs
from zeno.text.globs import MAX_ALTERNATIVES, MAX_CHARACTERS, expand, matcher, subtree_matcher
from zeno.text.path_names import Paths

PIECES = st.lists(
    st.sampled_from(["*", "**", "**/", "?", "[", "]", "!", "-", "a", "b", "z", "/", ".", "{", "}", ",", "\\", "^", "é"])
)
PATHS = st.lists(
    st.sampled_from(["a", "b", "z", "/", ".", "-", "]", "[", "!", "é", "{", ",", "}", "\n", "\\", "^"])
).map("".join)


def model_expand(glob: str) -> list[str]:
    """Resolve the first brace that has a partner and a comma of its own; the rest by recursion."""
    for start in (index for index, char in enumerate(glob) if char == "{"):
        depth, commas = 0, []
        for index in range(start, len(glob)):
            depth += {"{": 1, "}": -1}.get(glob[index], 0)
            if glob[index] == "," and depth == 1:
                commas.append(index)
            if depth == 0:
                if commas:
                    cuts = [start, *commas, index]
                    return [
                        text
                        for low, high in itertools.pairwise(cuts)
                        for text in model_expand(glob[:start] + glob[low + 1 : high] + glob[index + 1 :])
                    ]
                break
    return [glob]


def model_matches(glob: str, path: str) -> bool:
    """fnmatch, where each `**/` at the start of a component may also be left out."""
    for plain in model_expand(glob):
        starts = [found.start() for found in re.finditer(r"(?:(?<=/)|^)\*\*/", plain)]
        for kept in itertools.product([True, False], repeat=len(starts)):
            text = plain
            for start, keep in reversed(list(zip(starts, kept, strict=True))):
                text = text if keep else text[:start] + text[start + 3 :]
            if fnmatch.fnmatchcase(path, text):
                return True
    return False


@given(glob=PIECES.map("".join).filter(bool).filter(lambda glob: glob.count("**/") < 6), path=PATHS)
@example(glob="[!]-a]", path="b")
@example(glob="[b-a]", path="b")
@example(glob="[!b-a]", path="\n")
@example(glob="[]a]", path="]")
@example(glob="{a,{b,z}}", path="z")
@example(glob="{a}", path="{a}")
@example(glob="{[,a]}", path="[")
@example(glob="a/**/b", path="a/b")
@example(glob="[a-]", path="-")
@example(glob="[--a]", path="^")
@example(glob="[b-a!a]", path="b")
@example(glob="[b-a!]", path="z")
@example(glob="[z-a!-b]", path="!")
def test_a_glob_matches_what_fnmatch_matches_with_the_two_additions(glob, path):
    assert matcher([glob], "glob")(path) == model_matches(glob, path)


@given(
    globs=st.lists(PIECES.map("".join).filter(lambda glob: glob.strip("/") == glob != ""), min_size=1, max_size=3),
    path=PATHS,
    anywhere=st.booleans(),
    case_sensitive=st.booleans(),
)
def test_a_subtree_is_what_globs_match_and_all_below_it(globs, path, anywhere, case_sensitive):
    written = [form for glob in globs for form in ([glob, f"**/{glob}"] if anywhere else [glob])]
    with contextlib.suppress(InvalidArgs):
        spelled = matcher([*written, *(f"{glob}/*" for glob in written)], "x", case_sensitive=case_sensitive)
        below = subtree_matcher(globs, "x", case_sensitive=case_sensitive, anywhere=anywhere)
        assert below(path) == spelled(path)


@given(glob=st.text("{},ab", max_size=14))
def test_braces_expand_in_the_order_of_writing(glob):
    assert expand(glob, "glob") == model_expand(glob)


@given(glob=st.text("{},ab", max_size=14), room=st.integers(0, 60))
@example(glob="{a,b}", room=4)
@example(glob="{a,b}", room=3)
def test_the_alternatives_of_braces_share_so_much_room(glob, room):
    texts = model_expand(glob)
    if len(texts) > 1 and sum(len(text) + 1 for text in texts) > room:
        with pytest.raises(InvalidArgs, match="glob: the braces stand for too much text"):
            expand(glob, "glob", room)
    else:
        assert expand(glob, "glob", room) == texts


@pytest.mark.parametrize(
    ("glob", "path", "matches"),
    [
        ("**/*.swift", "App.swift", True),
        ("**/*.swift", "Sources/App/Main.swift", True),
        ("*.swift", "Sources/App.swift", True),
        ("*.SWIFT", "App.swift", False),
        ("src/?.py", "src/a.py", True),
        ("src**/a", "src/x/a", True),
        ("***/a", "a", False),
        ("a/**/**/*", "a/b", True),
        ("a/**/**/*", "ab", False),
        ("{a,b}.txt", "b.txt", True),
        ("{a,b", "{a,b", True),
    ],
)
def test_a_glob_means_what_the_protocol_says(glob, path, matches):
    assert matcher([glob], "glob")(path) is matches


def test_braces_that_multiply_are_refused_by_name():
    with pytest.raises(InvalidArgs, match=f"args.glob: .* {MAX_ALTERNATIVES} alternatives"):
        matcher(["{a,b}" * 30], "args.glob")


def test_the_globs_of_an_argument_may_have_so_many_characters_together():
    most = ["*" + "a" * (MAX_CHARACTERS // 4 - 1)] * 4
    plain = "b" * MAX_CHARACTERS
    assert matcher([*most, plain], "args.globs")(plain)
    with pytest.raises(InvalidArgs, match=f"args.globs has {MAX_CHARACTERS + 1} characters in globs with wildcards"):
        matcher([*most, "?"], "args.globs")


def test_a_hostile_glob_is_answered_at_once():
    assert not matcher(["*a" * 200 + "b"], "glob")("a" * 5000)


# Each as long as a request may be. Read again for every alternative, they took minutes.
@pytest.mark.parametrize(
    "glob",
    [
        "{" * 200_000 + "a" + ",b}" * 200_000,
        "{a," * 200_000 + "b" + "}" * 200_000,
        "{" * 1000 + "{}" * 400_000 + ",b}" * 1000,
        "a" + "/**/*" * 200_000,
        "**/" * 300_000 + "*",
    ],
    ids=["deep at the start", "deep at the end", "deep around much", "stars between", "stars at the start"],
)
def test_a_long_glob_comes_to_an_end(glob):
    with contextlib.suppress(InvalidArgs):
        matcher([glob], "args.glob").of(Paths(["a"]))


@pytest.mark.parametrize(
    "globs",
    [
        ["{a,b}" * 10 + "x" * 100_000],
        ["{" + "," * 1000 + "}" + "x" * 100_000],
        ["{a,b}" * 10] * 20_000,
    ],
    ids=["long tail", "many parts and a long tail", "many globs"],
)
def test_braces_that_stand_for_too_much_text_are_refused_before_memory_is_full(globs):
    with pytest.raises(InvalidArgs, match=r"args\.glob: the braces stand for too much text"):
        matcher(globs, "args.glob")
