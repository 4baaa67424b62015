"""Symbols: what is found in each language, what is not, and that any text will do."""

import json
import re
from importlib.resources import files
from typing import Any

import pytest
import re2
from hypothesis import given, settings
from hypothesis import strategies as st

from zeno.text.symbols import RuleMatch, language_of, symbols_of

SPEC = files("contract_spec")
LANGUAGES: dict[str, dict[str, Any]] = {
    resource.name.removesuffix(".json"): json.loads(resource.read_text("utf-8"))
    for resource in sorted((SPEC / "rules" / "languages").iterdir(), key=lambda item: item.name)
    if resource.name.endswith(".json")
}
INDEX: dict[str, dict[str, str]] = json.loads((SPEC / "rules" / "languages.json").read_text("utf-8"))
SCHEMA: dict[str, Any] = json.loads((SPEC / "schemas" / "zeno" / "language.json").read_text("utf-8"))

# A small source a language. What a line defines stands after the mark; what stands
# in a comment or string, or only looks like a definition, has no mark. An arrow is a tab.
MARK = "»"
SAMPLES = {
    "python.py": r'''
        """A docstring: def prose(): and class Prose: are not code."""
        LIMIT: int = 3                          » constant LIMIT
        cache = {}                              » variable cache
        type Pair[T] = tuple[T, T]              » type Pair
        @register("def decorated")
        class Shape(Base):                      » class Shape
            async def area(self) -> int:        » method area
                # def commented(): pass
                def inner(): return 'def quoted(): pass'  » function inner
            @staticmethod
            def make(x): ...                    » function make
            @classmethod
            def of(                             » method of
                cls, x): ...
        if LIMIT == 3:
            def conditional(): ...              » function conditional
        text = f"\"def escaped(): {LIMIT}"      » variable text
        double = lambda x: 2 * x                » function double
        ''',
    "javascript.js": r"""
        #!/usr/bin/env node
        // function commented() {}
        export default class Shape extends Base {          » class Shape
          static #count = 0;
          constructor(x) { super(x); }                     » method constructor
          async *walk({ a, b } = {}) {                     » method walk
            if (a) { return `function ${`class T {`} f() {}`; }
            for (const x of b) { call(function named() {}); }  » function named
          }
          get size() { return /["'`/]class R {/.test(1); } » method size
          #hidden(a, b = (1 + 2)) {                        » method hidden
          }
          handler = async (event) => {};                   » method handler
        }
        export async function* load(url) {}                » function load
        export const twice = (x) => 2 * x;                 » function twice
        const LIMIT = 10;                                  » constant LIMIT
        let state;                                         » variable state
        Shape.prototype.draw = function () {};             » method draw
        module.exports = { open: function () {}, text: 'function q() {}' };  » method open
        switch (state) { case 1: while (x) { } }
        /* class Commented {} */
        """,
    "typescript.ts": r"""
        export interface Shape<T> extends Base {           » interface Shape
          area(scale?: number): number;                    » method area
          onChange: (value: T) => void;
        }
        export declare type Pair<T> = [T, T];              » type Pair
        export const enum Color { Red }                    » enum Color
        declare namespace Geo.Flat {                       » namespace Geo.Flat
          function from(x: string): Pair<string>;          » function from
        }
        @Component({ selector: 'class X {' })
        export abstract class Widget<T extends { a: string }> implements Shape<T> {  » class Widget
          private readonly cache = new Map<string, T>();
          constructor(private x: number) { super(); }      » method constructor
          protected abstract draw<K>(key: K, f: (k: K) => void): void;  » method draw
          public async load(                               » method load
            url: string,
          ): Promise<T> {
            if (this.x) { return `interface ${url}`; }
          }
        }
        export const pick = async <T,>(items: T[]): Promise<T> => items[0];  » function pick
        // type Commented = string;
        """,
    "go.go": r"""
        package main
        // func commented() {}
        const Limit = 3                                    » constant Limit
        const (
        →First  = iota                                  » constant First
        →Second                                         » constant Second
        )
        var one, two = 1, 2                                » variable one; variable two
        type (
        →Name string                                    » type Name
        →Box  struct{ a int }                           » struct Box
        )
        type Stack[T any] struct {                         » struct Stack
        →items []T
        }
        type Reader interface {                            » interface Reader
        →Read(p []byte) (int, error)                    » method Read
        }
        type Alias = map[string]int                        » type Alias
        func (s *Stack[T]) Push(item T) {                  » method Push
        →text := `
        func quoted() {}
        `
        →call(func(x int) { local := "type T struct" })
        }
        func Map[K comparable, V any](m map[K]V) {}        » function Map
        """,
    "rust.rs": r"""
        //! fn commented() {}
        /* /* nested */ fn commented() {} */
        pub(crate) mod shapes { pub struct Unit; }         » module shapes; struct Unit
        #[derive(Debug)] pub struct Stack<'a, T> { a: &'a T }  » struct Stack
        pub enum Color { Red }                             » enum Color
        pub unsafe trait Draw {                            » trait Draw
            type Out;                                      » type Out
            fn draw<'a>(&'a mut self) -> char { '"' }      » method draw
        }
        impl<'a, T> Draw for Stack<'a, T> {
            pub const LIMIT: usize = 3;                    » constant LIMIT
            pub async fn make(x: fn(u8) -> u8) -> Self { } » function make
        }
        pub static mut COUNT: u32 = 0;                     » variable COUNT
        macro_rules! square { ($x:expr) => { $x * $x } }   » macro square
        pub type Pair<T> = (T, T);                         » type Pair
        const TEXT: &str = r#"fn quoted() { "struct Q" }"#;  » constant TEXT
        pub extern "C" fn call() {}                        » function call
        """,
    "java.java": r"""
        package shapes;
        /** class Commented {} */
        @Entity(name = "class Quoted") public abstract class Shape<T> {  » class Shape
            public static final int MAX_SIZE = 3;              » constant MAX_SIZE
            private int size = compute(3);
            protected Shape(int size) { this.size = size; }    » method Shape
            Shape() { this(1); }                               » method Shape
            @Override public <K extends Comparable<? super K>> Map<K, T> sort(  » method sort
                    Map<K, T> items, int[] order) throws IOException {
                if (size > 0) { return new HashMap<>(items); }
                else doIt(items);
                Runnable r = new Runnable() { public void run() { } };  » method run
                throw new Failure("void quoted() {");
            }
            abstract void draw();                              » method draw
            enum Color { RED }                                 » enum Color
            record Point(int x, int y) { Point { check(x); } } » class Point; method Point
            @interface Tag { String value() default ""; }      » interface Tag; method value
        }
        sealed interface Visitor permits A { }                 » interface Visitor
        """,
    "kotlin.kt": r'''
        /* /* nested */ class Commented */
        typealias Names = List<String>                         » type Names
        const val LIMIT = 3                                    » constant LIMIT
        val text = "fun quoted() ${if (x) "class Q" else ""}"  » variable text
        @Serializable data class Point(val x: Int)             » class Point
        sealed interface Shape {                               » interface Shape
            suspend fun area(scale: Int = 1): Int              » method area
            companion object { fun make() = 1 }                » function make
        }
        object Registry {                                      » class Registry
            private inline fun <reified T> find(): T = TODO()  » method find
        }
        enum class Color { RED }                               » enum Color
        fun <T> List<T>.second(): T = this[1]                  » function second
        val raw = """                                          » variable raw
        fun quoted() {}
        """
        ''',
    "c.c": r"""
        /* int commented(void) { */
        #define MAX(a, b) a                                    » macro MAX
        #define MAKE(a) static \                               » macro MAKE
            static int hidden(void) { return a; }
        #  define FLAG 1                                       » macro FLAG
        struct point { int x; };                               » struct point
        typedef struct node { struct node *next; } node_t;     » struct node; type node_t
        typedef int (*compare_fn)(const void *, const void *); » type compare_fn
        typedef unsigned long ulong_t;                         » type ulong_t
        enum color { RED };                                    » enum color
        union value { int i; };                                » union value
        int prototype(int x);
        static inline int add(int a, int b) { return a + b; }  » function add
        static struct point *
        make_point(int x,                                      » function make_point
                   int (*f)(int))
        {
            if (x) { return 0; } else if (f(x)) { }
            while (x) { call("int quoted(void) {"); }
            LIST_FOREACH(a, b, c) { }
            return other(x);
        }
        old_style(a, b)                                        » function old_style
            int a; char *b;
        { }
        EXPORT(int) run(void) __attribute__((cold)) { return '"'; }  » function run
        """,
    "cpp.cpp": r"""
        // class Commented {};
        namespace geo::flat {                                  » namespace geo::flat
        template <class T, typename U = int>
        class EXPORT_API Shape final : public Base<T> {        » class Shape
         public:
          explicit Shape(int x) : x_(x), y_{x} {}              » function Shape
          ~Shape() override { }                                » function ~Shape
          virtual auto area() const noexcept -> double { return 0; }  » function area
          bool operator==(const Shape& o) const { return true; }  » function operator==
          T operator()(int a) { return a; }                    » function operator()
          void declared(int x) const;
          struct Inner { int a; };                             » struct Inner
          [[nodiscard]] int size() const noexcept { return 1; }  » function size
          template <class U> [[nodiscard, gnu::pure]] U as() { return {}; }  » function as
        };
        class URL final : public Base<int> {};                 » class URL
        struct [[nodiscard]] Status final {};                  » struct Status
        [[deprecated("f() {")]]
        int old() { return 1; }                                » function old
        enum class Color : int { Red };                        » enum Color
        using Names = std::vector<std::string>;                » type Names
        template <typename T>
        std::vector<T> Shape<T>::list(const T& x) const {      » function list
          for (auto& y : x) { if (y) { return {}; } }
          std::for_each(x.begin(), x.end(), [&](int z) { });
          auto s = R"x(class Quoted { )" };)x"; int n = 1'000;
        }
        Shape::Shape() = default;
        }
        """,
    "header.h": r"""
        #ifndef HEADER_H
        #define HEADER_H                                       » macro HEADER_H
        typedef struct { int x; } point_t;                     » type point_t
        static inline int first(int *a) { return a[0]; }       » function first
        @interface Shape : NSObject                            » class Shape
        #endif
        """,
    "csharp.cs": r"""
        namespace Geo.Flat;                                    » namespace Geo.Flat
        /// <summary>class Commented</summary>
        [Serializable] public sealed partial class Shape<T> : Base where T : new() {  » class Shape
            private const int Limit = 3;                       » constant Limit
            public int Size { get; private set; } = 1;         » property Size
            public Shape(int x) : base(x) { }                  » method Shape
            public async Task<List<T>> LoadAsync<K>(       » method LoadAsync
                    K key, string s = "void Q() {") where K : class {
                if (x) { await Run(); } else return new Shape<T>(1);
                var text = $"class {(x ? "class Q {" : "")}"; var path = @"C:\";
                foreach (var y in z) { }
            }
            public override string ToString() => "x";          » method ToString
        }
        public readonly record struct Point(int X);            » struct Point
        public interface IShape { double Area(); }             » interface IShape; method Area
        internal enum Color { Red }                            » enum Color
        public delegate void Changed(object sender);           » type Changed
        public record Person(string Name);                     » class Person
        """,
    "swift.swift": r'''
        /* /* nested */ class Commented {} */
        public protocol Shape: AnyObject {                     » interface Shape
            associatedtype Item                                » type Item
            func area(of x: Int) -> Double                     » method area
        }
        @MainActor public final class Circle<T>: Shape {       » class Circle
            public required init?(x: Int) { }                  » method init
            override class func make() -> Self { }             » method make
            static func == (a: Circle, b: Circle) -> Bool { }  » method ==
        }
        struct Point { var text = "class \(f("func q()")) {" } » struct Point
        indirect enum Tree { case leaf }                       » enum Tree
        typealias Names = [String]                             » type Names
        let raw = #"class "Quoted" {"#                         » constant raw
        func swap<T>(_ a: inout T) {}                          » function swap
        let page = """                                         » constant page
        func quoted() {}
        """
        ''',
    "objectivec.m": r"""
        // @interface Commented
        #import "Shape.h"
        @protocol Drawing <NSObject>                           » interface Drawing
        - (void)draw;                                          » method draw
        @end
        @interface Shape : NSObject <Drawing>                  » class Shape
        @property (nonatomic, copy) NSString *title;           » property title
        + (instancetype)shapeWithSize:(NSInteger)size;         » method shapeWithSize
        @end
        typedef NS_ENUM(NSInteger, Color) { Red };             » enum Color
        @implementation Shape                                  » class Shape
        - (NSArray<NSString *> *)names:(int)x { return @[@"- (void)quoted {"]; }  » method names
        @end
        static int helper(int x) { return x; }                 » function helper
        """,
    "ruby.rb": r"""
        =begin
        class Commented
        =end
        module Geo                                             » module Geo
          LIMIT = 3                                            » constant LIMIT
          class Flat::Shape < Base                             » class Shape
            attr_reader :size                                  » property size
            def self.make(x) = new(x)                          » method make
            private def hidden?; end                           » method hidden?
            def ==(other); "#{x["class Q"]} def quoted"; end   » method ==
            def name=(value)                                   » method name=
              text = <<~EOS
                def quoted
              EOS
              x =~ /"class R/; y = %w[def class]; class << self; end
            end
            alias_method :other, :name                         » method other
          end
        end
        Point = Struct.new(:x)                                 » class Point
        def helper # def commented                             » function helper
        end
        __END__
        class Data
        """,
    "php.php": r"""
        <?php
        namespace App\Model;                                   » namespace App\Model
        # class Commented {}
        #[Attribute] final class Shape extends Base {          » class Shape
            public const LIMIT = 3;                            » constant LIMIT
            public static function make(int $x): static { f("class Q {"); }  » method make
            abstract protected function &draw();               » method draw
        }
        interface Drawing { }                                  » interface Drawing
        trait Named { }                                        » trait Named
        enum Color: string { case Red = 'function q() {}'; }   » enum Color
        function helper($f) { return function ($x) use ($f) { }; }  » function helper
        $text = <<<EOT
        function quoted() {}
        EOT;
        ?>
        <p>class Markup { function shown() {} }</p>
        """,
    "scala.scala": r'''
        /* /* nested */ class Commented */
        sealed trait Shape[+T] {                               » trait Shape
          type Item                                            » type Item
          def area(scale: Int): Double                         » method area
          protected[geo] def +(other: Shape[T]): Shape[T]      » method +
        }
        @tailrec final case class Circle(r: Double = '"') extends Shape[Int]  » class Circle
        object Circle { def apply() = """                      » class Circle; function apply
        class Quoted
        """ }
        enum Color { case Red }                                » enum Color
        val text = "def quoted = 1"                            » variable text
        def helper(x: Int) = x                                 » function helper
        ''',
    "dart.dart": r"""
        /* class Commented {} */
        abstract class Shape<T> extends Base {                 » class Shape
          static const limit = 3;                              » constant limit
          const Shape(this.x);                                 » method Shape
          factory Shape.make(int x) { return Shape(x); }       » method Shape
          factory Shape.of(Map<String, int> x) => Shape(1);    » method Shape
          int sides(Shape x) => switch (x) {                   » method sides
            Shape(x: 3) => 3,
          };
          @override
          Future<List<T>> load(String url, {int n = 1}) async {  » method load
            if (n > 1) { return g(n); }
          }
          double get area => 1;                                » method area
        }
        mixin Named on Shape { }                               » trait Named
        enum Color { red }                                     » enum Color
        typedef Compare<T> = int Function(T a);                » type Compare
        extension Twice on int { }                             » type Twice
        final text = 'class ${f('class Q {')} Q {';            » variable text
        void main() { while (x) { } }                          » function main
        """,
    "lua.lua": r"""
        --[==[ function commented() end
        ]] ]==]
        -- function commented() end
        local function helper(x) return [[                     » function helper
        function quoted() end
        ]] end
        function Shape.new(x) end                              » method new
        function Shape:area() return "function q()" end        » method area
        local twice = function(x) return 2 * x end             » function twice
        M.draw = function() end                                » method draw
        """,
    "shell.sh": r"""
        #!/bin/sh
        # commented() { }
        readonly LIMIT=3                                       » constant LIMIT
        export NAME="quoted() { }"                             » variable NAME
        build-all() {                                          » function build-all
          cat <<-'EOF'
        quoted() {
        →EOF
          echo ${#NAME} $((1<<2)) 'it
        quoted() { }'
        }
        function deploy { :; }                                 » function deploy
        alias ll='ls -l'                                       » macro ll
        """,
    "sql.sql": r"""
        -- CREATE TABLE commented (id int);
        CREATE TABLE IF NOT EXISTS app.users (note text DEFAULT 'create table q');  » table users
        create or replace view "active" as select 1;           » view active
        CREATE UNIQUE INDEX users_id ON users (id);            » index users_id
        CREATE OR REPLACE FUNCTION app.touch() RETURNS trigger AS $body$  » function touch
        CREATE TABLE quoted (id int);
        $body$ LANGUAGE plpgsql;
        CREATE TRIGGER on_change BEFORE UPDATE ON users;       » trigger on_change
        CREATE TYPE mood AS ENUM ('sad');                      » type mood
        CREATE SCHEMA audit;                                   » namespace audit
        /* create procedure commented() */ CREATE PROCEDURE run() BEGIN END;  » function run
        """,
    "haskell.hs": r"""
        module Data.Shape (area) where                         » module Data.Shape
        {- {- nested -} data Commented = C -}
        data Shape a = Circle a | Square                       » type Shape
        newtype Name = Name String                             » type Name
        type Pair a = (a, a)                                   » type Pair
        class (Eq a) => Drawing a where                        » trait Drawing
          draw' :: a -> String                                 » method draw'
        area, size :: Shape Double -> Double                   » function area
        area x' = f "data Quoted = Q" '"' -- data Commented
          where inner = x'
        (<+>) :: Int -> Int -> Int                             » function <+>
        """,
    "elixir.ex": r'''
        defmodule Geo.Shape do                                 » module Geo.Shape
          @moduledoc """
          def quoted, do: 1
          """
          @type size :: integer                                » type size
          @callback draw(t) :: :ok                             » function draw
          defmacro square(x), do: quote(do: unquote(x))        » macro square
          def area?(%{r: r}), do: "#{f("def q")} def quoted"   » function area?
          def unquote(name)(x), do: x
          defp helper(x) when x > ?" do                        » function helper
            # def commented
          end
        end
        defprotocol Drawing do                                 » interface Drawing
        end
        ''',
    "r.R": r"""
        # commented <- function() 1
        LIMIT <- 3                                             » constant LIMIT
        data.set <- c("quoted <- function() 1")                » variable data.set
        area <- function(x) {                                  » function area
          inner = \(y) y                                       » function inner
        }
        `my fun` <- function() r"(f <- function() 1)"          » function my fun
        Shape <- R6Class("Shape")                              » class Shape
        """,
    "perl.pm": r"""
        package Geo::Shape;                                    » module Geo::Shape
        use constant LIMIT => 3;                               » constant LIMIT
        # sub commented { }
        sub new { my $x = q{sub quoted { 1 }}; $x =~ s/'/sub q {/; }  » function new
        sub area($self) {                                      » function area
            print <<"EOT", $#list;
        sub quoted { }
        EOT
        }

        =pod

        sub documented { }

        =cut

        sub last_one                                           » function last_one
        { }
        __END__
        sub after { }
        """,
    "julia.jl": r'''
        #= #= nested =# struct Commented end =#
        module Geo                                             » module Geo
        abstract type Shape end                                » type Shape
        mutable struct Circle{T} <: Shape                      » struct Circle
            r::T
        end
        const LIMIT = 3                                        » constant LIMIT
        """
        function documented end
        """
        function area(c::Circle)::Float64                      » function area
            text = "function $(f("struct Q")) quoted()"; A' * A
        end
        @inline twice(x::T) where T = 2x                       » function twice
        Base.show(io::IO, c::Circle) = print(io, '"')          » function show
        function Base.:+(a::Circle, b::Circle) end             » function +
        Base.:(==)(a::Circle, b::Circle) = a.r == b.r          » function ==
        function Base.isless(a::Circle, b::Circle) end         » function isless
        macro check(x) end                                     » macro check
        end
        ''',
    "zig.zig": r"""
        /// fn commented() void {}
        pub const Shape = struct {                             » struct Shape
            pub const limit = 3;                               » constant limit
            pub fn area(self: Shape) f64 { const x = "fn quoted()"; }  » function area
        };
        const Color = enum { red };                            » enum Color
        const Value = union(enum) { a: u8 };                   » union Value
        const Failure = error{Broken};                         » type Failure
        var count: u32 = 0;                                    » variable count
        const page =                                           » constant page
            \\pub fn quoted() void {}
        ;
        export fn run() void {}                                » function run
        """,
    "protobuf.proto": r"""
        syntax = "proto3";
        package geo.v1;                                        » namespace geo.v1
        // message Commented {}
        message Shape {                                        » message Shape
          message Inner { string a = 1 [default = "message Q {"]; }  » message Inner
          enum Color { RED = 0; }                              » enum Color
        }
        service Shapes {                                       » service Shapes
          rpc Draw (Shape) returns (stream Shape);             » method Draw
        }
        """,
    "markdown.md": r"""
        ---
        title: front matter
        ---
        # First heading                                        » heading First heading
        Some text, # not a heading
        <!--
        # Commented
        -->
        ```sh
        # quoted
        ```
        ## Second `code` ##                                    » heading Second `code`
        Setext heading                                         » heading Setext heading
        ==============
        - a list

        ---
        #hashtag
        """,
}


def parsed(sample: str) -> tuple[str, list[RuleMatch]]:
    """Part a sample into the source and the symbols that its marks promise."""
    lines, expected = [], []
    for number, line in enumerate(sample.removeprefix("\n").split("\n"), 1):
        source, _, marks = line.removeprefix(" " * 8).partition(MARK)
        lines.append(source.rstrip().replace("→", "\t"))
        for mark in filter(None, map(str.strip, marks.split(";"))):
            kind, _, name = mark.partition(" ")
            expected.append(RuleMatch(kind, name, number))
    return "\n".join(lines), expected


@pytest.mark.parametrize("path", SAMPLES)
def test_definitions_are_found_and_prose_is_not(path: str) -> None:
    source, expected = parsed(SAMPLES[path])
    assert symbols_of(path, source) == expected


def test_every_language_has_a_sample() -> None:
    assert {language_of(path) for path in SAMPLES} == set(LANGUAGES)


@pytest.mark.parametrize("path", SAMPLES)
def test_carriage_returns_before_line_ends_change_nothing(path: str) -> None:
    source, expected = parsed(SAMPLES[path])
    assert symbols_of(path, source.replace("\n", "\r\n")) == expected


# What begins a script or a page with front matter must stay in front.
MOVABLE = [path for path in SAMPLES if not parsed(SAMPLES[path])[0].startswith(("#!", "---"))]


@pytest.mark.parametrize("path", MOVABLE)
def test_only_newlines_are_counted_as_lines(path: str) -> None:
    source, expected = parsed(SAMPLES[path])
    comment = (LANGUAGES[str(language_of(path))]["lexis"].get("line_comments") or [""])[0]
    moved = f"{comment}\f\v\x85\u2028\r{comment}\n\n" + source
    assert symbols_of(path, moved) == [symbol._replace(line=symbol.line + 2) for symbol in expected]


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("a/b.d/module.py", "python"),
        ("Rakefile", "ruby"),
        ("deep/Rakefile", "ruby"),
        ("types.d.ts", "typescript"),
        (".bashrc", "shell"),
        ("a.h", "cpp"),
        ("a.c", "c"),
        ("plot.R", "r"),
        ("plot.py.txt", None),
        ("Rakefile/notes", None),
        ("py", None),
        ("a.PY", None),
        ("", None),
        (".", None),
    ],
)
def test_language_goes_by_the_last_path_component(path: str, language: str | None) -> None:
    assert language_of(path) == language


def test_unknown_language_has_no_symbols() -> None:
    assert symbols_of("notes.txt", "class A: pass") == []


def test_names_may_be_of_any_script() -> None:
    assert symbols_of("a.py", "# größe\ndef größe(): ...\nclass 図形: ...\n") == [
        RuleMatch("function", "größe", 2),
        RuleMatch("class", "図形", 3),
    ]


def test_symbols_on_one_line_come_in_order_and_once() -> None:
    source = "struct B { void b() {} }; struct A { void b() {} };"
    assert symbols_of("a.cpp", source) == [
        RuleMatch("struct", "B", 1),
        RuleMatch("function", "b", 1),
        RuleMatch("struct", "A", 1),
    ]


def test_index_agrees_with_the_languages() -> None:
    for key in ("extensions", "filenames"):
        listed = [(name, language) for language, data in LANGUAGES.items() for name in data[key]]
        assert len(dict(listed)) == len(listed), "two languages claim one name"
        assert INDEX[key] == dict(listed)


def test_a_file_holds_the_language_it_is_named_after() -> None:
    assert {name: data["language"] for name, data in LANGUAGES.items()} == {name: name for name in LANGUAGES}


def test_kinds_come_from_the_closed_vocabulary() -> None:
    vocabulary = set(SCHEMA["$defs"]["kind"]["enum"])
    rules = [rule for data in LANGUAGES.values() for rule in data["rules"]]
    assert {rule["kind"] for rule in rules} == vocabulary
    assert {kind for rule in rules for kind in rule.get("like", ())} <= vocabulary


@pytest.mark.parametrize("language", LANGUAGES)
def test_patterns_compile_under_re2_and_capture_a_name(language: str) -> None:
    data = LANGUAGES[language]
    parts: dict[str, str] = {}

    def expand(pattern: str) -> str:
        return re.sub(r"%\{([a-z]+)\}", lambda part: parts[part[1]], pattern)

    for name, part in data.get("parts", {}).items():
        parts[name] = expand(part)
    for rule in data["rules"]:
        pattern = re2.compile(expand(rule["pattern"]))
        assert {"name"} <= set(pattern.groupindex) <= {"name", "head"}
        assert re2.compile(expand(rule.get("inside", ""))).groups == 0
    for token in data["lexis"].get("tokens", ()):
        assert re2.compile(token).groups <= 1
    for begin in data["lexis"].get("heredocs", ()):
        assert re2.compile(begin).groups == 1
    for fenced in data["lexis"].get("fenced", ()):
        assert re2.compile(fenced["open"]).groups == 1


# Beginnings of everything that can be left unfinished, to be repeated.
UNFINISHED = """
( [ { < ) ] } > " ' ` ; , : = / \\ # -- // /* <!-- (* {- #= \"\"\" ''' ``` ~~~ `${ "#{
"${ "\\( $"{ @" r#" R"x( [==[ --[==[ $x$ <<A <<~A <<<A =begin =cut %w[ %q{ q( m/ s/a =/[ class def
fn fun func function struct typedef template< operator public static const let type interface create
import int a( a<b a::b a.b a:b A_ A_(x) @a @a( #define ?> <?php x=>(
"""
FRAGMENTS = UNFINISHED.split()


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("separator", ["", " ", "\n"])
def test_any_fragment_repeated_comes_to_an_end(language: str, separator: str) -> None:
    path = "x" + LANGUAGES[language]["extensions"][0]
    for fragment in FRAGMENTS:
        piece = fragment + separator
        symbols_of(path, piece * (4_000 // len(piece)))


@pytest.mark.parametrize("text", ["(", '"', "'", "class ", "/*", "a(b,\n", "{", "é"])
@pytest.mark.parametrize("path", ["x.py", "x.ts", "x.cpp", "x.rs", "x.rb"])
def test_megabytes_of_one_thing_come_to_an_end(path: str, text: str) -> None:
    symbols_of(path, text * (1_000_000 // len(text)))


@settings(max_examples=200)
@given(
    path=st.sampled_from(sorted(SAMPLES)),
    pieces=st.lists(st.sampled_from([*FRAGMENTS, "\n", " ", "name"]) | st.text(max_size=3)),
)
def test_any_text_gives_ordered_symbols_and_the_same_ones_again(path: str, pieces: list[str]) -> None:
    text = "".join(pieces)
    found = symbols_of(path, text)
    assert found == symbols_of(path, text)
    assert len(set(found)) == len(found)
    lines = [symbol.line for symbol in found]
    assert lines == sorted(lines)
    for symbol in found:
        assert symbol.name
        assert symbol.name in text.split("\n")[symbol.line - 1]
