"""Several roots as one tree: names come first in paths, and each root is confined by itself."""

import os
from pathlib import Path

import pytest

from zeno.errors import CannotRun, Denied, NotAFile, NotFound, OutsideRoot
from zeno.files.policy import Policy
from zeno.files.roots import Nested, Roots, walk_all
from zeno.options import read_roots


@pytest.fixture
def roots(tmp_path: Path):
    for path, text in {"A/src/x.py": "a", "A/top": "t", "B/y.txt": "b", "out/secret": "s"}.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    with Roots({"web": str(tmp_path / "A"), "api": str(tmp_path / "B")}) as found:
        yield found


def read(roots: Roots, path: str) -> bytes:
    with roots.open(path) as file:
        data = b"".join(file.chunks())
    assert file.path == roots.place(path).path
    return data


def test_a_path_begins_with_the_name_of_its_root(roots):
    assert roots.names == ["api", "web"]
    assert read(roots, "web/src/x.py") == b"a"
    assert read(roots, "./web//src/./x.py") == b"a"
    assert read(roots, "api/y.txt") == b"b"
    assert roots.place("web/src/").path == "web/src"
    assert roots.place("api").path == "api"
    assert [one.path for one in walk_all(roots, include_hidden=True)] == ["api/y.txt", "web/src/x.py", "web/top"]


def test_the_first_level_is_a_directory_of_names(roots):
    place = roots.place(".")
    assert place.path == "."
    assert place.is_folder
    with pytest.raises(NotAFile):
        roots.open(".")
    assert roots.place("none/x").entry is None
    with pytest.raises(NotFound):
        roots.open("src/x.py")


@pytest.mark.parametrize(
    "path", ["..", "../A/top", "web/..", "web/../api/y.txt", "web/src/../../x", "/etc", "none/../.."]
)
def test_a_path_that_leaves_its_root_is_outside_even_if_another_root_is_there(roots, path):
    with pytest.raises(OutsideRoot) as told:
        roots.open(path)
    assert repr(path) in str(told.value)


def test_a_link_into_another_root_is_outside_and_one_into_its_own_is_not(roots, tmp_path):
    (tmp_path / "A/to_b").symlink_to(tmp_path / "B/y.txt")
    (tmp_path / "A/up_to_b").symlink_to("../B/y.txt")
    (tmp_path / "A/out").symlink_to("../out/secret")
    (tmp_path / "A/own").symlink_to(tmp_path / "A/top")
    for name in ("to_b", "up_to_b", "out"):
        with pytest.raises(OutsideRoot):
            roots.open(f"web/{name}")
        with pytest.raises(OutsideRoot):
            roots.open(str(tmp_path / "A" / name))
    assert read(roots, "web/own") == b"t"
    assert roots.place("web/own").path == "web/top"


def test_absolute_paths_lead_to_the_root_they_are_in(roots, tmp_path):
    assert roots.place(str(tmp_path / "B" / "y.txt")).path == "api/y.txt"
    assert roots.inside(os.fsencode(tmp_path / "A" / "top")) == [b"web", b"", b"top"]
    assert roots.inside(os.fsencode(tmp_path / "out")) is None
    (tmp_path / "way").symlink_to("A")
    assert roots.place(str(tmp_path / "way" / "top")).path == "web/top"


def test_errors_tell_the_path_as_it_was_asked_for(roots, tmp_path):
    with pytest.raises(NotFound, match=r"^'web/none': nothing"):
        roots.open("web/none")
    with pytest.raises(NotAFile, match=r"^'web/src' is a directory"):
        roots.open("web/src")


def test_globs_of_the_policy_match_paths_with_their_names(tmp_path):
    for name in ("A", "B"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x").write_text("x")
    directories = {"a": str(tmp_path / "A"), "b": str(tmp_path / "B")}
    with Roots(directories, Policy(["a/x"])) as roots:
        assert read(roots, "b/x") == b"x"
        for path in ("a/x", "a/./x", str(tmp_path / "A" / "x")):
            with pytest.raises(Denied):
                roots.open(path)
    with Roots(directories, Policy(["A"])) as roots:
        for path in ("a", "a/x", "a/none"):
            with pytest.raises(Denied):
                roots.place(path)
    with Roots(directories, Policy(only=["b"])) as roots:
        assert read(roots, "b/x") == b"x"
        for path in ("a", "a/x", "c", "c/x"):
            with pytest.raises(Denied):
                roots.place(path)


def test_the_concealed_log_is_missing_in_every_root(roots, tmp_path):
    os.link(tmp_path / "B/y.txt", tmp_path / "A/again")
    with open(tmp_path / "B/y.txt", "rb") as log:
        roots.conceal(log.fileno())
    for path in ("api/y.txt", "web/again"):
        assert roots.place(path).entry is None


def test_a_root_inside_another_is_refused(tmp_path):
    (tmp_path / "A" / "in").mkdir(parents=True)
    (tmp_path / "link").symlink_to("A/in")
    for inner in ("A/in", "link", "A"):
        with pytest.raises(Nested):
            Roots({"a": str(tmp_path / "A"), "b": str(tmp_path / inner)})
    assert not [fd for fd in os.listdir("/proc/self/fd") if str(tmp_path) in _target(fd)]


def _target(descriptor: str) -> str:
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")
    except OSError:
        return ""


def test_directories_that_a_path_covers(roots, tmp_path):
    (tmp_path / "A/link").symlink_to("src")
    covered = {
        "A": ["web"],
        "A/src": ["web/src"],
        "A/link": ["web/src"],
        "A/top": [],
        "A/none": [],
        "A/../out": [],
        "": ["api", "web"],
        "out": [],
    }
    assert {path: roots.find_covered(os.fsencode(tmp_path / path)) for path in covered} == covered
    assert roots.find_covered(b"/") == ["api", "web"]


def test_names_of_roots():
    assert read_roots(["a=/x", "b.c-d=y=z"]) == {"a": "/x", "b.c-d": "y=z"}
    assert read_roots(["web=."]) == {"web": "."}
    assert read_roots(["/tmp/x"]) == read_roots(["./a=b"]) == read_roots(["/tmp/a=b"]) == {}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["/x", "b=/y"], "'/x' has no name"),
        (["a/b=/x", "b=/y"], "'a/b=/x' has no name"),
        (["=/x"], "'' is no name"),
        (["..=/x"], "'..' is no name"),
        ([".=/x"], "'.' is no name"),
        ([".git=/x"], "'.git' is no name"),
        (["a*=/x"], "'a[*]' is no name"),
        (["a\n=/x"], "is no name"),
        (["a=/x", "a=/y"], "called 'a' already"),
        (["a="], "has no directory"),
    ],
)
def test_names_that_cannot_begin_a_path_are_refused(given, told):
    with pytest.raises(CannotRun, match=told):
        read_roots(given)
