"""verify: from a receipt to a verdict, through the server. The verdicts themselves are tested in test_citations.py."""

import pytest
from contract_models.zeno.ops.verify import VerifyArgs

from zeno.files.tree import Tree
from zeno.meter import Meter, Overrun
from zeno.ops.verify import verify
from zeno.search.corpus import ColdCorpus


def cite(result, path="f"):
    return {
        "path": path,
        "start_line": result["start_line"],
        "end_line": result["end_line"],
        "sha256": result["sha256"],
    }


def test_what_was_delivered_with_a_receipt_verifies_until_it_changes(root, ask):
    (root / "f").write_bytes("one\r\ntwo\nthr\u00e9e\nfour".encode())
    read = ask("read_file", path="f", start_line=2, end_line=3, receipts=True)["result"]
    peeked = ask("peek", path="f", head_lines=2, tail_lines=1, receipts=True)["result"]
    hit = ask("grep", pattern="o", receipts=True, max_hits=1)["result"]["hits"][0]
    line = {"start_line": hit["line"], "end_line": hit["line"], "sha256": hit["sha256"]}
    citations = [cite(read), cite(peeked["head"]), cite(peeked["tail"]), cite(line)]
    assert [item["verdict"] for item in ask("verify", citations=citations)["result"]["items"]] == ["ok"] * 4
    (root / "f").write_bytes("zero\none\ntwo\nthr\u00e9e\n4".encode())
    items = ask("verify", citations=citations)["result"]["items"]
    assert [item["verdict"] for item in items] == ["moved", "moved", "changed", "moved"]
    assert items[0]["moved_to"] == {"start_line": 3, "end_line": 4}
    (root / "f").unlink()
    assert [item["verdict"] for item in ask("verify", citations=citations)["result"]["items"]] == ["missing"] * 4


def test_verdicts_come_in_the_order_of_the_citations_with_links_resolved(root, ask):
    (root / "b").write_text("x\n")
    (root / "a").symlink_to("b")
    citations = [{"path": path, "start_line": 1, "end_line": 1, "text": "x"} for path in ("b", "a", "gone")]
    items = ask("verify", citations=citations)["result"]["items"]
    assert [(item["path"], item["verdict"]) for item in items] == [("b", "ok"), ("b", "ok"), ("gone", "missing")]


@pytest.mark.parametrize(
    ("bad", "verdict"),
    [
        ({"path": "../f"}, "outside_root"),
        ({"start_line": 2}, "invalid"),
        ({"sha256": "0" * 64}, "invalid"),
        ({"text": "x\ny"}, "changed"),
    ],
)
def test_one_bad_citation_is_told_for_itself(root, ask, bad, verdict):
    (root / "f").write_text("x\n")
    good = {"path": "f", "start_line": 1, "end_line": 1, "text": "x"}
    items = ask("verify", citations=[good, good | bad, good])["result"]["items"]
    assert [item["verdict"] for item in items] == ["ok", verdict, "ok"]


@pytest.mark.parametrize(
    ("citation", "field"),
    [
        ({"sha256": "0" * 63}, "args.citations[0].sha256"),
        ({"sha256": "A" * 64}, "args.citations[0].sha256"),
        ({"text": "x", "path": ""}, "args.citations[0].path"),
    ],
    ids=str,
)
def test_a_citation_that_makes_no_sense_is_refused_by_the_name_of_its_field(root, ask, citation, field):
    (root / "f").write_text("x\n")
    error = ask("verify", citations=[{"path": "f", "start_line": 1, "end_line": 1, **citation}])["error"]
    assert error["code"] == "invalid_args"
    assert error["message"].startswith(field)


@pytest.mark.parametrize("count", [0, 201])
def test_there_must_be_a_sensible_number_of_citations(ask, count):
    citation = {"path": "f", "start_line": 1, "end_line": 1, "text": "x"}
    assert ask("verify", citations=[citation] * count)["error"]["code"] == "invalid_args"


def test_what_was_read_is_measured(root, ask):
    (root / "f").write_text("x\n")
    metrics = ask("verify", citations=[{"path": "f", "start_line": 1, "end_line": 1, "text": "x"}])["result"]["metrics"]
    assert (metrics["bytes_read"], metrics["files_scanned"]) == (2, 1)


FUNCTION = "def renew(self):\n    return 1"


def test_a_definition_is_found_again_where_it_moved_and_says_whether_it_changed(root, ask):
    (root / "a.py").write_text(f"{FUNCTION}\n")
    read = ask("read_file", path="a.py", symbol="renew", receipts=True)["result"]
    citation = {"path": "a.py", "symbol": "renew", "sha256": read["sha256"]}

    def check():
        (item,) = ask("verify", citations=[citation])["result"]["items"]
        return item["verdict"], item.get("moved_to"), item.get("found_at")

    assert check() == ("ok", None, {"start_line": 1, "end_line": 2})
    (root / "a.py").write_text(f"import time\n\n{FUNCTION}\n")
    assert check() == ("ok", None, {"start_line": 3, "end_line": 4})
    (root / "a.py").write_text("import time\n")
    assert check() == ("missing", None, None)
    (root / "b.py").write_text(f"# moved\n{FUNCTION}\n")
    assert check() == ("moved", {"path": "b.py", "start_line": 2, "end_line": 3}, None)
    (root / "b.py").unlink()
    (root / "a.py").write_text("def renew(self):\n    return 2\n")
    assert check() == ("changed", None, {"start_line": 1, "end_line": 2})


def test_a_part_of_a_definition_moves_to_no_other_file(root, ask):
    (root / "a.py").write_text("")
    (root / "b.py").write_text(f"{FUNCTION}\n")
    (item,) = ask("verify", citations=[{"path": "a.py", "symbol": "renew", "text": "return 1"}])["result"]["items"]
    assert item["verdict"] == "missing"


def test_citations_of_many_commits_are_interrupted(root):
    args = VerifyArgs.model_validate({"citations": [{"path": "a", "text": "b", "rev": "none"}]})
    with Tree(str(root)) as tree, pytest.raises(Overrun):
        verify(args, ColdCorpus(tree), Meter(patience=lambda: -1.0))
