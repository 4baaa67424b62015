"""Roles: how a name stands on a line."""

import pytest

from zeno.code.extract import extract
from zeno.code.kept_facts import keep
from zeno.code.tokens import ORDER, Roles

# Each line of a source, with the role of `foo` on it; none where it has no `foo`.
SAMPLES: dict[str, list[tuple[str, str | None]]] = {
    "a.py": [
        ("import foo", "import"),
        ("from a import (b,", None),
        ("    foo)", "import"),
        ("# foo()", "comment"),
        ('x = "foo()"', "string"),
        ('y = f"{foo(1)} foo"', "call"),
        ("z = foo", "use"),
        ("a.foo(foo)  # foo", "call"),
        ("def foo(): ...", "definition"),
        ("foobar = xfoo", None),
    ],
    "a.go": [
        ("package a", None),
        ('import "foo"', "import"),
        ("func foo() {", "definition"),
        ("\tx.foo(1) // foo", "call"),
        ("\ty := foo", "use"),
        ("\tz := `foo`", "string"),
        ("\t/* foo */", "comment"),
        ("}", None),
    ],
    "a.js": [
        ("import {foo} from './foo';", "import"),
        ("export {b} from './foo';", "import"),
        ("const a = `foo ${foo()}`;", "call"),
        ("const b = `foo ${c}`;", "string"),
        ("new foo(1);", "call"),
        ("let d = e.foo;", "use"),
        ("class G { foo() {} }", "definition"),
    ],
    "a.cpp": [
        ("namespace bar::foo {", "definition"),
        ("}", None),
        ("#include <foo>", "import"),
        ("struct foo { ~foo() {} };", "definition"),
        ("void f() { g->foo(); }", "call"),
        ('char* h = "foo";', "string"),
    ],
    "a.rb": [
        ("require 'foo'", "import"),
        ("require File.join(foo, 'a')", "import"),
        ('a = "foo #{foo(1)}"', "call"),
        ("def foo=(x); end", "definition"),
        ("=begin", None),
        ("foo", "comment"),
        ("=end", None),
    ],
    "a.php": [("<?php", None), ("$foo(1);", "call"), ("new $foo;", "call"), ("$a = $foo;", "use")],
    "a.swift": [("let a = [.foo(1)]", "call"), ("let b = .foo", "use")],
    "a.sh": [("source foo", "import"), ("foo x", "call"), ("echo 'foo'", "string"), ("foo() { :; }", "definition")],
    "a.lua": [("local x = foo()", "text"), ("function foo() end", "definition")],
}

# Members that are no symbols: the line that declares one defines its name. All other lines use it.
FIELDS = {
    "f.go": ["package f", "type A struct {", "\tfoo, bar int", "}", "var a = A{foo: 1}", "var b = a.foo"],
    "f.java": ["class A {", "  private int foo = 1;", "  int b = this.foo;", "}"],
    "record.java": ["record A(", "  int foo) {", "  int b() { return foo; }", "}"],
    "f.cs": ["class A {", "  int foo;", "  int B() { return this.foo; }", "}"],
    "f.c": ["struct a {", "  int *foo;", "};", "int b(struct a *c) { return c->foo; }"],
    "call.c": ["struct a {", "  int (*foo)(int);", "};", "void *b(struct a *c) { return c->foo; }"],
    "f.cpp": ["struct A {", "  int& foo;", "  int b() { return this->foo; }", "};"],
    "f.rs": ["struct A {", "    foo: i32,", "}", "fn b(a: A) -> i32 { a.foo }"],
    "f.ts": ["class A {", "  #foo = 1;", "  b() { return this.#foo; }", "}"],
    "type.ts": ["interface A {", "  foo: number;", "}", "function b(a: A) { return a.foo; }"],
    "f.js": ["class A {", "  foo = 1;", "  b() { return this.foo; }", "}"],
    "f.kt": ["class A {", "  val foo = 1", "  fun b() = this.foo", "}"],
    "first.kt": ["class A(", "  val foo: Int) {", "  fun b() = foo", "}"],
    "f.swift": ["struct A {", "  var foo = 1", "  func b() -> Int { return self.foo }", "}"],
    "f.scala": ["class A {", "  val foo = 1", "  def b = this.foo", "}"],
    "case.scala": ["case class A(", "  foo: Int) {", "  def b = this.foo", "}"],
    "f.php": ["<?php class A {", "  public $foo = 1;", "  function b() { return $this->foo; }", "}"],
    "enum.java": ["enum A {", "  foo;", "  A b() { return A.foo; }", "}"],
    "enum.cs": ["enum A {", "  foo", "}", "class B { A c = A.foo; }"],
    "enum.c": ["enum a {", "  foo = 1", "};", "int b = foo;"],
    "enum.cpp": ["enum class A {", "  foo", "};", "auto b = A::foo;"],
    "enum.rs": ["enum A {", "    foo,", "}", "fn b() -> A { A::foo }"],
    "enum.ts": ["enum A {", "  foo", "}", "let b = A.foo;"],
    "enum.kt": ["enum class A {", "  foo", "}", "val b = A.foo"],
    "enum.swift": ["enum A {", "  case foo", "}", "let b = A.foo"],
    "enum.php": ["<?php enum A {", "  case foo;", "}", "$b = A::foo;"],
}


@pytest.mark.parametrize("name", FIELDS)
def test_the_line_that_declares_a_member_defines_its_name(name):
    lines = FIELDS[name]
    text = "\n".join(lines).encode()
    facts = extract(name, text)
    roles = Roles(keep(facts), "foo")
    starts = [len("\n".join(lines[:at]).encode()) + bool(at) for at in range(len(lines))]
    found = [roles.of(at + 1, starts[at], line.encode()) for at, line in enumerate(lines) if "foo" in line]
    assert found[0] == "definition"
    assert set(found[1:]) == {"use"}
    assert facts.unparsed == []
    assert all(symbol.name != "foo" for symbol in facts.symbols)


@pytest.mark.parametrize("name", SAMPLES)
def test_roles_by_sample(name):
    lines = [line for line, _ in SAMPLES[name]]
    text = ("\n".join(lines) + "\n").encode()
    roles = Roles(keep(extract(name, text)), "foo")
    start = 0
    for number, (line, expected) in enumerate(SAMPLES[name], 1):
        if expected is not None:
            assert roles.of(number, start, line.encode()) == expected, line
            assert expected in ORDER
        start += len(line) + 1
