"""extract_symbols: the operation around the extraction, which test_symbols.py covers."""

import json

import pytest
from contract_models.zeno.ops.extract_symbols import ExtractSymbolsArgs

from zeno.errors import ResponseTooLarge
from zeno.files.tree import Tree
from zeno.meter import Meter
from zeno.ops.extract_symbols import extract_symbols
from zeno.options import Options
from zeno.search.corpus import ColdCorpus


def test_symbols_are_capped_in_the_order_they_stand(root, ask):
    (root / "a.py").write_text("class A:\n    def b(self): ...\n\ndef c(): ...\n")
    result = ask("extract_symbols", path="a.py")["result"]
    assert [(symbol["name"], symbol["line"]) for symbol in result["symbols"]] == [("A", 1), ("b", 2), ("c", 4)]
    assert result["truncated"] is False
    assert "truncated_by" not in result
    cut = ask("extract_symbols", path="a.py", max_symbols=2)["result"]
    assert (cut["symbols"], cut["truncated"], cut["truncated_by"]) == (result["symbols"][:2], True, ["max_symbols"])
    assert ask("extract_symbols", path="a.py", max_symbols=3)["result"]["truncated"] is False


def test_a_file_in_no_known_language_has_no_symbols(root, ask):
    (root / "notes").write_text("class A:\n")
    assert ask("extract_symbols", path="notes")["result"]["symbols"] == []


def test_the_language_follows_the_name_of_the_file_behind_a_link(root, ask):
    (root / "a.py").write_text("def f(): ...\n")
    (root / "link").symlink_to("a.py")
    result = ask("extract_symbols", path="link")["result"]
    assert (result["path"], len(result["symbols"])) == ("a.py", 1)


def test_more_symbols_than_an_answer_holds_are_refused_before_it_is_made(root):
    (root / "a.py").write_text("def f(): ...\n" * 100)
    args = ExtractSymbolsArgs(path="a.py", max_symbols=1000)

    def asked(size):
        meter = Meter(options=Options(max_response_bytes=size))
        return extract_symbols(args, ColdCorpus(Tree(str(root))), meter)

    symbols = asked(1 << 20).model_dump(mode="json")["symbols"]
    whole = len(json.dumps(symbols, separators=(",", ":")))
    assert asked(whole).symbols
    with pytest.raises(ResponseTooLarge):
        asked(whole // 2)
