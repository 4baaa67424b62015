"""Names: containers and marks that a source writes with them."""

import pytest

from zeno.code.languages import grammar_of
from zeno.code.names import split_name


@pytest.mark.parametrize(
    ("path", "written", "container", "name"),
    [
        ("a.cpp", "a::b::f", "a.b", "f"),
        ("a.cpp", "A<B<C>>::f", "A", "f"),
        ("a.cpp", "::f", "", "f"),
        ("a.cpp", "A::~A", "A", "~A"),
        ("a.cpp", "A::operator<<", "A", "operator<<"),
        ("a.cpp", "A::operator bool() const", "A", "operator bool"),
        ("a.cpp", "operators", "", "operators"),
        ("a.cs", "A.B", "A", "B"),
        ("a.cs", "@class", "", "class"),
        ("a.php", "A\\B", "A", "B"),
        ("a.ts", "A.B.C", "A.B", "C"),
        ("a.rb", "A::B", "A", "B"),
        ("a.rb", "<=>", "", "<=>"),
        ("a.rb", ":x", "", "x"),
        ("a.kt", "`adds two`", "", "adds two"),
        ("a.sh", "ll=ls", "", "ll"),
        ("a.c", "(f)", "", "f"),
        ("a.go", "f", "", "f"),
    ],
)
def test_a_written_name_is_its_containers_and_its_name(path, written, container, name):
    grammar = grammar_of(path)
    assert grammar is not None
    assert split_name(written, grammar) == (container, name)
