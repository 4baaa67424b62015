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
