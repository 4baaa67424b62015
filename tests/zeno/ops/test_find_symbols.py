"""find_symbols: whatever the cache knows, the answer is that of extraction from every file."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from zeno.code.extract import extract

SOURCES = {
    "a.py": "class Shape:\n    def area(self): ...\n\ndef Area(): ...\n",
    "b.go": "package b\n\ntype Shape struct{}\n\nfunc (s Shape) area() {}\n",
    "c/d.ts": "export class Area { shape() { return 1; } }\n",
    "c/e.md": "# Shape\n",
    "f.txt": "Shape\n",
}


@pytest.fixture
def tree(root):
    for path, text in SOURCES.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text)
    return root


def _expected(keep):
    symbols = [(path, symbol) for path, text in SOURCES.items() for symbol in extract(path, text.encode()).symbols]
    return [(path, symbol.path, symbol.line) for path, symbol in sorted(symbols, key=_order) if keep(symbol)]


def _order(pair):
    return pair[0], pair[1].line, pair[1].name


def _found(answer):
    return [
        (one["path"], ".".join(part for part in (one.get("container"), one["name"]) if part), one["line"])
        for one in answer["result"]["symbols"]
    ]


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.sampled_from(
        ["Shape", "area", "Area", "a", "sha", "Shape.area", "Area.shape", "Shape.Area", "x", "e", "Shape.", "."]
    ),
    st.data(),
)
def test_the_search_for_the_name_loses_no_definition(tree, ask, name, data):
    match = data.draw(st.sampled_from(["exact", "prefix", "substring"]))
    tests = {
        "exact": lambda symbol: (
            f".{symbol.path}".endswith(f".{name}") or (symbol.container != "" and f".{symbol.container}." == f".{name}")
        ),
        "prefix": lambda symbol: symbol.name.startswith(name),
        "substring": lambda symbol: name in symbol.name,
    }
    assert _found(ask("find_symbols", name=name, match=match)) == _expected(tests[match])


def test_pages_are_the_whole_in_pieces(tree, ask):
    whole = _found(ask("find_symbols"))
    assert whole == _expected(lambda _: True)
    pages, answer = [], ask("find_symbols", max_symbols=2)
    while "cursor" in answer["result"]:
        pages += _found(answer)
        answer = ask("find_symbols", max_symbols=2, cursor=answer["result"]["cursor"])
    assert pages + _found(answer) == whole


def test_an_edit_shows_in_the_next_answer(tree, ask):
    assert _found(ask("find_symbols", name="later")) == []
    (tree / "a.py").write_text("def later(): ...\n")
    assert _found(ask("find_symbols", name="later")) == [("a.py", "later", 1)]


NAMES = ["straße", "STRASSE", "\u017f", "S", "K", "\u212a", "éa", "ÉA", "ab", "aB"]


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(NAMES), st.sampled_from(["exact", "prefix", "substring"]))
def test_without_case_a_name_is_found_whatever_else_is_in_its_file(root, ask, name, match):
    for index, one in enumerate(NAMES):
        (root / f"{index}.md").write_text(f"# {one}\n")
    (root / "all.md").write_text("".join(f"# {one}\n" for one in NAMES))
    found = ask("find_symbols", name=name, match=match, case_sensitive=False)["result"]["symbols"]
    alone = [one["name"] for one in found if one["path"] != "all.md"]
    assert alone == [one["name"] for one in found if one["path"] == "all.md"]
    assert name in alone


@pytest.mark.parametrize("name", ["outer.inner", "inner"])
@pytest.mark.parametrize("case_sensitive", [True, False])
def test_a_nested_namespace_is_found_by_the_chain_that_its_members_have(root, ask, name, case_sensitive):
    (root / "a.cpp").write_text("namespace outer::inner {\nclass A {};\n}\n")
    found = ask("find_symbols", name=name, case_sensitive=case_sensitive)["result"]["symbols"]
    assert [(one["kind"], one["name"], one["container"]) for one in found] == [("namespace", "inner", "outer")]
    assert ask("find_symbols", name="outer.inner.A")["result"]["symbols"][0]["container"] == "outer.inner"
    assert ask("grep", pattern="}", paths=["a.cpp"], scope=True)["result"]["hits"][-1]["scope"]["name"] == "outer.inner"


@pytest.mark.parametrize("case_sensitive", [True, False])
def test_a_dot_within_a_name_is_no_boundary(root, ask, case_sensitive):
    (root / "a.md").write_text("# v1.2.3\n")
    found = {
        name: ask("find_symbols", name=name, case_sensitive=case_sensitive)["result"]["symbols"]
        for name in ("v1.2.3", "2.3", "3")
    }
    assert [len(symbols) for symbols in found.values()] == [1, 0, 0]
