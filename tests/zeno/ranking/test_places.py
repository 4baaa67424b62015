"""Paths: the words in them, and what kind of file they name."""

import pytest

from zeno.ranking.places import MAX_TABLES, PlaceTable, PlaceTables, end_of, read_path


def test_words_of_a_name_and_of_its_directories_are_told_apart():
    place = read_path("src/http_server/SessionStore.py")
    assert place.name == {b"session", b"stor"}
    assert place.directories == {b"src", b"http", b"server"}
    assert place.joined == b"sessionstor"


@pytest.mark.parametrize(
    ("path", "factor"),
    [
        ("src/app.py", 100),
        ("tests/app.py", 40),
        ("src/app_test.go", 40),
        ("src/AppTests.swift", 40),
        ("src/app.spec.ts", 40),
        ("test_app.py", 40),
        ("conftest.py", 40),
        ("docs/app.py", 50),
        ("README", 50),
        ("src/data.json", 50),
        ("docs/test_app.py", 40),
        ("lib/jquery.min.js", 50),
        ("src/latest.py", 100),
        (".json", 50),
    ],
)
def test_tests_documents_and_data_count_less(path, factor):
    assert read_path(path).factor == factor


def test_a_table_finds_files_by_words_in_their_paths():
    table = PlaceTable(["a/store.py", "stores/b.py", "stores/store.py"])
    assert list(table.names[b"stor"]) == [0, 2]
    assert list(table.directories[b"stor"]) == [1, 2]
    assert list(table.joined[b"stor"]) == [0, 2]


def test_a_table_finds_files_by_the_ends_of_their_paths():
    table = PlaceTable(["a/Store.py", "b/store.py", "store.py"])
    assert table.find_end(b"store.py") == [0, 1, 2]
    assert table.find_end(b"a/store.py") == [0]
    assert table.find_end(b"other.py") == []


def test_tables_of_recent_paths_are_kept():
    tables = PlaceTables()
    first = tables.find(["a.py"])
    assert tables.find(["a.py"]) is first
    for number in range(MAX_TABLES):
        tables.find([f"{number}.py"])
    assert tables.find(["a.py"]) is not first


def test_the_end_of_a_path_has_its_name_and_its_directory():
    assert end_of("a/b/C.py") == (b"c.py", b"b/c.py")
    assert end_of("C.py") == (b"c.py", b"/c.py")
