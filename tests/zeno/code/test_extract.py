"""Extraction: definitions with extents and containers, lines that cannot be parsed, and any text at all."""

import textwrap

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zeno.code.extract import apply_rules, extract
from zeno.code.facts import NOTHING
from zeno.code.languages import MAX_BYTES
from zeno.text.file_lines import normal

# A small source a language. Behind the mark: kind, name with containers, and the lines of the definition.
MARK = "»"
SAMPLES = {
    "a.py": """
        @decorate(
            1)
        class Shape(Base):                   » class Shape 1-7
            LIMIT = 3
            @property
            def area(self):                  » method Shape.area 5-7
                return lambda: 1
        async def load(                      » function load 8-11
            url):
            def inner(): ...                 » function load.inner 10-10
            return url
        SIZE = (                             » constant SIZE 12-14
            1,
        )
        """,
    "a.go": """
        package main
        type Stack[T any] struct {           » struct Stack 2-4
        →items []T
        }
        func (s *Stack[T]) Push(x T) {       » method Stack.Push 5-7
        →type local int                      » type Stack.Push.local 6-6
        }
        type Reader interface {              » interface Reader 8-10
        →Read(p []byte) int                  » method Reader.Read 9-9
        }
        var a, b = 1, 2                      » variable a 11-11; variable b 11-11
        """,
    "a.js": """
        export default class Shape {         » class Shape 1-5
          #hidden() {                        » method Shape.hidden 2-3
          }
          run = () => 1;                     » method Shape.run 4-4
        }
        const api = {                        » constant api 6-9
          open() {                           » method api.open 7-8
          },
        };
        """,
    "a.ts": """
        namespace Geo {                      » namespace Geo 1-5
          export interface Point {           » interface Geo.Point 2-4
            move(x: number): void;           » method Geo.Point.move 3-3
          }
        }
        @Component({
        })
        export class Widget {                » class Widget 6-12
          @Input()
          load(): void {                     » method Widget.load 9-11
          }
        }
        """,
    "a.tsx": """
        export function App() {              » function App 1-3
          return <b>text</b>;
        }
        """,
    "A.java": """
        package a.b;
        @Entity
        public class Shape {                 » class Shape 2-8
            static final int MAX = 3;        » constant Shape.MAX 4-4
            @Override
            public void run() {              » method Shape.run 5-7
            }
        }
        """,
    "a.rs": """
        mod shapes {                         » module shapes 1-10
            #[derive(Debug)]
            #[repr(C)]
            pub struct Unit;                 » struct shapes.Unit 2-4
            impl<T> Draw for Box<T> {
                fn draw(&self) {             » method shapes.Box.draw 6-7
                }
                fn make() {}                 » function shapes.Box.make 8-8
            }
        }
        """,
    "a.c": """
        static struct point *
        make_point(int x)                    » function make_point 1-4
        {
        }
        typedef struct node {                » struct node 5-7
            int x;
        } node_t;                            » type node_t 5-7
        #define MAX(a) \\                     » macro MAX 8-9
            (a)
        """,
    "a.cpp": """
        namespace geo::flat {                » namespace geo.flat 1-6
        template <class T>
        class Shape {                        » class geo.flat.Shape 2-5
          ~Shape() {}                        » function geo.flat.Shape.~Shape 4-4
        };
        }
        int geo::flat::Shape<int>::area() {  » function geo.flat.Shape.area 7-9
          return 1;
        }
        """,
    "a.cs": """
        namespace Geo.Flat {                 » namespace Geo.Flat 1-6
            [Serializable]
            class Shape {                    » class Geo.Flat.Shape 2-5
                int Size { get; set; }       » property Geo.Flat.Shape.Size 4-4
            }
        }
        """,
    "a.rb": """
        module Geo                           » module Geo 1-6
          class Shape                        » class Geo.Shape 2-5
            def area                         » method Geo.Shape.area 3-4
            end
          end
        end
        """,
    "a.php": """
        <?php
        namespace A;                         » namespace A 2-2
        class Shape {                        » class Shape 3-7
            #[Pure]
            public function area() {         » method Shape.area 4-6
            }
        }
        """,
    "a.kt": """
        class Shape {                        » class Shape 1-6
            companion object {
                fun make() = 1               » method Shape.make 3-3
            }
            fun area(): Int = 1              » method Shape.area 5-5
        }
        """,
    "a.swift": """
        extension Shape {
            func area() -> Int {             » method Shape.area 2-4
                return 1
            }
        }
        """,
    "a.scala": """
        object Shape {                       » class Shape 1-4
          def area: Int = {                  » method Shape.area 2-3
          }
        }
        """,
    "a.sh": """
        load() {                             » function load 1-3
          LIMIT=3
        }
        """,
}


def _source(marked: str) -> tuple[bytes, list[str]]:
    lines = textwrap.dedent(marked).strip("\n").replace("→", "\t").split("\n")
    expected = [mark.strip() for line in lines for mark in line.partition(MARK)[2].split(";") if mark.strip()]
    return ("\n".join(line.partition(MARK)[0].rstrip() for line in lines) + "\n").encode(), expected


@pytest.mark.parametrize("name", SAMPLES)
def test_definitions_have_their_lines_and_containers(name):
    text, expected = _source(SAMPLES[name])
    facts = extract(name, text)
    found = [f"{symbol.kind} {symbol.path} {symbol.start_line}-{symbol.end_line}" for symbol in facts.symbols]
    assert found == expected
    assert facts.unparsed == []
    assert facts.extractor.startswith("tree-sitter-")


def test_no_definition_extends_over_lines_that_cannot_be_parsed():
    text = b"def f():\n    x = )\n\ndef g():\n    pass\n"
    facts = extract("a.py", text)
    assert facts.unparsed == [(2, 2)]
    assert [(symbol.name, symbol.start_line, symbol.end_line) for symbol in facts.symbols] == [("f", 1, 0), ("g", 4, 5)]


def test_rules_find_definitions_on_lines_that_cannot_be_parsed():
    facts = extract("a.h", b"@interface Shape : NSObject\nint x;\n")
    assert facts.unparsed
    assert [(symbol.kind, symbol.name, symbol.end_line) for symbol in facts.symbols] == [("class", "Shape", 0)]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.kt", "fun `adds two`() { ) }"),
        ("a.cs", "class @class { ) }"),
        ("a.cpp", "namespace a::b { ) }"),
        ("a.php", "<?php namespace A\\B { ) }"),
        ("a.swift", "func `in`() { ) }"),
    ],
)
def test_rules_add_no_second_spelling_of_a_definition(name, text):
    facts = extract(name, text.encode() + b"\n")
    assert facts.unparsed
    assert len(facts.symbols) == 1


def test_every_name_of_a_declaration_in_go_is_a_definition():
    facts = extract("a.go", b"package a\n\nconst X, Y = 1, 2\n\nvar P, Q int\n")
    assert [symbol.name for symbol in facts.symbols] == ["X", "Y", "P", "Q"]


def test_operators_of_swift_are_definitions_and_extensions_have_no_arguments():
    text = (
        b"struct S {\n    static func == (a: S, b: S) -> Bool { true }\n}\nextension Box<Int> {\n    func f() {}\n}\n"
    )
    assert [symbol.path for symbol in extract("a.swift", text).symbols] == ["S", "S.==", "Box.f"]


def test_a_class_behind_a_macro_is_a_class_with_its_members():
    text = b"class EXPORT Slice {\n public:\n  int size() { return 1; }\n};\n"
    assert next((symbol.kind, symbol.name) for symbol in extract("a.h", text).symbols) == ("class", "Slice")


def test_operators_of_ruby_are_definitions():
    facts = extract("a.rb", b"class A\n  def <=>(o) = 0\n  def <(o) = 1\nend\n")
    assert [symbol.path for symbol in facts.symbols] == ["A", "A.<=>", "A.<"]


def test_a_text_over_the_limit_is_left_to_the_rules():
    text = b"def f(): pass\n" + b"#" * MAX_BYTES + b"\n"
    assert extract("a.py", text) == apply_rules("a.py", text)
    assert extract("a.py", text).extractor == "rules"


def test_an_error_of_thousands_of_tokens_is_left_to_the_rules():
    assert extract("a.go", b"(" * 5000 + b"\n").extractor == "rules"


def test_deep_nesting_ends_the_chain_of_containers_and_loses_no_definition():
    depth = 300
    text = "".join(f"{' ' * level}def f{level}():\n" for level in range(depth)) + " " * depth + "pass\n"
    symbols = extract("a.py", text.encode()).symbols
    assert [symbol.name for symbol in symbols] == [f"f{level}" for level in range(depth)]
    assert symbols[-1].container == symbols[100].container


def test_a_file_in_no_known_language_has_no_facts():
    assert extract("a.unknown", b"def f(): pass\n") == NOTHING


def test_a_language_without_grammar_has_symbols_without_extents():
    facts = extract("a.lua", b"function f()\nend\n")
    assert facts.extractor == "rules"
    assert [(symbol.name, symbol.end_line) for symbol in facts.symbols] == [("f", 0)]


PIECES_OF_CODE = [
    "def f(",
    "class A {",
    "func (a *B) c() {",
    "}",
    ")",
    "end",
    '"',
    "'",
    "`",
    "/*",
    "*/",
    "#",
    "//",
    "\n",
    "  ",
    "x",
    "=",
    "<<A",
    "${",
]


def require_sound_facts(name: str, text: bytes) -> None:
    """Fail if the facts of a text name lines or bytes that it does not have, or contradict each other."""
    facts = extract(name, text)
    count = text.count(b"\n")
    for symbol in facts.symbols:
        assert symbol.name
        assert "\n" not in symbol.name
        assert 1 <= symbol.start_line <= symbol.line <= count
        assert symbol.end_line == 0 or symbol.line <= symbol.end_line <= count
        extent = range(symbol.start_line, symbol.end_line + 1)
        assert not any(first <= line <= last for line in extent for first, last in facts.unparsed)
    stretches = list(facts.stretches)
    assert stretches[::3] == sorted(stretches[::3])
    ends = stretches[1::3]
    assert all(start < end <= len(text) for start, end in zip(stretches[::3], ends, strict=True))
    assert all(end <= start for end, start in zip(ends, stretches[3::3], strict=False))


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(SAMPLES)), st.lists(st.sampled_from(PIECES_OF_CODE), max_size=40), st.text(max_size=20))
def test_any_text_has_facts_whose_lines_exist(name, pieces, tail):
    text = normal(("".join(pieces) + tail).encode("utf-8", "replace"))
    require_sound_facts(name, text)
