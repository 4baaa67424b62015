"""search: the same files and scores as the plain ranker, warm and cold, whatever is edited; and its text for models."""

import json
import subprocess

import pytest
from contract_models.zeno.ops.search import SearchArgs
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.plain_ranker import PlainRanker
from zeno.cache.warm_corpus import WarmCorpus
from zeno.code.extract import extract
from zeno.code.pool import Pool
from zeno.files.roots import Roots
from zeno.files.tree import Tree
from zeno.interfaces.result_text import text_of
from zeno.meter import Meter, Overrun
from zeno.ops.search import search
from zeno.search.corpus import ColdCorpus
from zeno.search.roots_corpus import corpus_of
from zeno.session.server import Server

CHANGING = settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
LINE = st.sampled_from(
    ["def close_store():", "    return cache", "class Store:", "# closes the store", "rows = caches", "", "é", "x" * 70]
)
TEXT = st.lists(LINE, max_size=6).map(lambda lines: "".join(f"{line}\n" for line in lines))
PATHS = ("a.py", "store.py", "docs/cache.md", "src/close_store.py", "tests/test_store.py")
QUERY = st.sampled_from(["close store", "Store", "closing of `caches` in store.py", "rows", "the", "close_store", "é"])


def write(root, texts):
    for path in PATHS:
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).unlink(missing_ok=True)
        if path in texts:
            (root / path).write_text(texts[path])


def expected(texts, query):
    definitions = {
        path: [(one.name, bool(one.container)) for one in extract(path, text.encode()).symbols]
        for path, text in texts.items()
    }
    return PlainRanker(texts, definitions).rank(query)


def ranked(answer):
    result = answer["result"]
    found = [(one["path"], one["score"]) for one in result["results"]]
    return found, [(one["term"], one["files"]) for one in result["terms"]]


@CHANGING
@given(st.dictionaries(st.sampled_from(PATHS), TEXT), QUERY)
def test_files_scores_and_terms_are_those_of_the_plain_ranker(root, ask, texts, query):
    write(root, texts)
    assert ranked(ask("search", query=query)) == expected(texts, query)


def answer(server, **args):
    result = json.loads(server.answer(json.dumps({"id": "1", "op": "search", "args": args}).encode()))["result"]
    return {"result": {**result, "metrics": 0}}


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(st.dictionaries(st.sampled_from(PATHS), TEXT, min_size=1), min_size=2, max_size=4),
    QUERY,
    st.sampled_from([["."], ["src", "*.py"], ["docs/cache.md"]]),
)
def test_an_edit_is_seen_by_the_next_request_and_warm_answers_are_the_cold_ones(root, states, query, paths):
    """Words that were kept before, counted ahead or not yet counted: the answer is that of the plain ranker."""
    write(root, {})
    if not (root / "link.py").is_symlink():
        (root / "link.py").symlink_to("a.py")
    with Tree(str(root)) as tree:
        corpus, cold = WarmCorpus(tree, 1 << 20), Server(ColdCorpus(tree))
        server = Server(corpus)
        for texts in states:
            write(root, texts)
            linked = {**texts, **({"link.py": texts["a.py"]} if "a.py" in texts else {})}
            for is_prepared in (False, True):
                while is_prepared and corpus.idle():
                    pass
                warm = answer(server, query=query)
                assert ranked(warm) == expected(linked, query)
                assert warm == answer(cold, query=query)
                assert answer(server, query=query, paths=paths) == answer(cold, query=query, paths=paths)
            assert all(held.words >= 0 for held in corpus.texts.list_texts())
        corpus.close()


def test_kept_words_have_a_limit_and_those_of_texts_that_are_gone_are_forgotten(root):
    with Tree(str(root)) as tree:
        corpus = WarmCorpus(tree, 1 << 18)
        server, cold = Server(corpus), Server(ColdCorpus(tree))
        for state in range(3):
            for number in range(12):
                words = (f"word{state}x{number}x{one}" for one in "abcdefghijklmnopqrstuvwxyz")
                (root / f"{number}.txt").write_text(" ".join(words) + " store\n")
            while corpus.idle():
                pass
            assert corpus.facts.words.size <= (1 << 18) // 8 + (1 << 14)
            assert answer(server, query="store a") == answer(cold, query="store a")
        corpus.close()


def test_several_roots_are_ranked_as_one_tree_with_their_words_kept(root):
    for name in ("one", "two"):
        (root / name).mkdir()
        write(root / name, {"a.py": "class Store: ...\n", "store.py": f"{name} = close_store()\n"})
    with Tree(str(root)) as tree, Roots({name: str(root / name) for name in ("one", "two")}) as roots:
        corpus = corpus_of(roots, lambda one: WarmCorpus(one, 1 << 20))
        whole, several = Server(ColdCorpus(tree)), Server(corpus)
        for query in ("close store", "two Store", "three"):
            assert ranked(answer(several, query=query)) == ranked(answer(whole, query=query))
            while corpus.idle():
                pass
            assert ranked(answer(several, query=query)) == ranked(answer(whole, query=query))
        corpus.close()


@pytest.fixture
def tree(root):
    write(root, {"a.py": "class Store:\n    def close(self): ...\n", "store.py": "import a\n\n\nstore = a.Store()\n"})
    (root / "empty_store.py").write_text("")
    (root / "store.bin").write_bytes(b"store\0")
    return root


def test_each_result_tells_what_made_its_score(tree, ask):
    found = {one["path"]: one["matched"] for one in ask("search", query="Store")["result"]["results"]}
    assert found == {
        "a.py": {"definition": "Store", "body": ["store"]},
        "store.py": {"path": ["store"], "definition": "store", "body": ["store"]},
    }


def test_files_without_text_are_no_results(tree, ask):
    result = ask("search", query="store")["result"]
    assert {one["path"] for one in result["results"]} == {"a.py", "store.py"}
    assert (result["skipped"]["binary"], result["complete"]) == (1, True)


def test_a_limit_on_results_leaves_an_answer_complete(tree, ask):
    result = ask("search", query="store", max_results=1)["result"]
    assert (result["truncated_by"], result["complete"]) == (["max_results"], True)


def test_a_limit_on_files_does_not(tree, ask):
    result = ask("search", query="store", max_files=1)["result"]
    assert (result["truncated_by"], result["complete"]) == (["max_files"], False)


def test_lines_of_the_first_file_are_clipped_to_max_chars(tree, ask):
    result = ask("search", query="store", max_chars=8)["result"]
    assert [line["text"] for line in result["results"][0]["lines"]] == ["store = a."[:8]]
    assert result["truncated_by"] == ["max_chars"]


@pytest.mark.parametrize(("query", "hint"), [("zebra", "nothing relevant"), ("how is it", "nothing relevant")])
def test_nothing_relevant_comes_with_a_hint_to_grep(tree, ask, query, hint):
    (told,) = ask("search", query=query)["result"]["hints"]
    assert told.startswith(hint)
    assert "grep" in told


def test_words_that_are_in_most_files_come_with_a_hint_to_grep(root, ask):
    for number in range(12):
        (root / f"{number}.txt").write_text("common\n")
    assert "grep" in ask("search", query="common")["result"]["hints"][0]


def test_a_query_of_more_than_10000_characters_is_refused(tree, ask):
    assert "query" in ask("search", query="x" * 10_001)["error"]["message"]


def test_text_for_models_has_at_most_2000_characters_for_ten_results(root, ask):
    for number in range(40):
        folder = root / f"some_rather_long_directory_name_{number}" / "inner"
        folder.mkdir(parents=True)
        (folder / "implementation_of_store.py").write_text("class Store:\n" + "    store = 'store '  # store\n" * 40)
    result = ask("search", query="store implementation")["result"]
    text = text_of("search", result)
    assert len(result["results"]) == 10
    assert len(text) <= 2000
    assert all(f"{one['path']}:{one['start_line']}-" in text for one in result["results"])


def test_text_for_models_tells_words_that_no_file_has(tree, ask):
    text = text_of("search", ask("search", query="store of zebras")["result"])
    assert "in no file: zebras" in text.splitlines()[-1]
    assert text_of("search", ask("search", query="zebras")["result"]).splitlines()[-1].startswith("[nothing relevant")


def test_a_commit_is_ranked_as_its_checkout(tree, pipe):
    ask = pipe().ask

    def git(*arguments):
        identity = ("-c", "user.name=n", "-c", "user.email=e")
        subprocess.run(["git", *identity, *arguments], cwd=tree, check=True, capture_output=True)

    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "first")
    before = ask("search", query="store")["result"]
    (tree / "a.py").write_text("nothing\n")
    assert ask("search", query="store")["result"]["results"] != before["results"]
    assert ask("search", query="store", rev="HEAD")["result"]["results"] == before["results"]


def test_the_words_of_a_large_text_are_counted_in_another_process_where_others_wait(root):
    (root / "large.txt").write_text("word another\n" * 50_000)
    with Tree(str(root)) as tree:
        args = SearchArgs.model_validate({"query": "word"})
        assert search(args, ColdCorpus(tree), Meter()).results[0].path == "large.txt"
        with pytest.raises(Overrun):
            search(args, ColdCorpus(tree), Meter(patience=lambda: 1000.0))


def test_only_texts_that_have_a_name_of_the_query_are_parsed_to_rank_them(tmp_path, monkeypatch):
    for number in range(4):
        (tmp_path / f"m{number}.py").write_text(f"user = get({number})\n")
    (tmp_path / "z.py").write_text("def get_user(): pass\n")
    parsed = []
    parse = Pool.parse

    def note(pool, files, check):
        parsed.append(sorted(file.path for file in files))
        return parse(pool, files, check)

    monkeypatch.setattr(Pool, "parse", note)
    with Tree(str(tmp_path)) as tree:
        corpus = ColdCorpus(tree)
        result = search(SearchArgs(query="get_user", max_results=1), corpus, Meter())
        corpus.close()
    assert [one.path for one in result.results] == ["z.py"]
    assert parsed == [["z.py"]]
