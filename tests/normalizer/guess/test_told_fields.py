"""No reading is wrong about a field in silence: where names say less, a doubt names the field, or nothing is read.

Each layout is a table whose meaning is known. Its columns are put into another order, and some of them get names that
say nothing. What is proposed then either takes every field for what it is, or names the field in a doubt, or is one of
several readings that are printed side by side, or there is none.
"""

import io
import itertools
import json
import random

import pytest

from normalizer.guess.fields.unexplained import pointers_in
from normalizer.guess.propose import propose

ITEMS = [f"q{n}" for n in range(8)]
MODELS, JUDGES = ("larch", "maple"), ("anna", "ben", "cleo")
CELLS = list(itertools.product(ITEMS, MODELS, JUDGES))
PAIRS = list(itertools.product(ITEMS, JUDGES))


def points(*parts, most=5):
    """A number from 1 on that follows from its parts and from nothing else."""
    return 1 + random.Random(repr(parts)).randrange(most)


def choice(words, *parts):
    return words[points(*parts, most=len(words)) - 1]


# name: the rows, and what each column is for
LAYOUTS = {
    "one score": (
        [{"item": i, "model": m, "judge": j, "rating": points(i, m, j)} for i, m, j in CELLS],
        {"item": "item", "model": "generator", "judge": "judge", "rating": "score"},
    ),
    "criteria": (
        [
            {"id": i, "system": m, "rater_id": j, "fluency": points(i, m, j), "clarity": points(m, j, i)}
            | {"relevance": points(j, m, i), "tokens": points(i, most=90)}
            for i, m, j in CELLS
        ],
        {"id": "item", "system": "generator", "rater_id": "judge"}
        | dict.fromkeys(("fluency", "clarity", "relevance"), "score"),
    ),
    "yes and no": (
        [
            {"doc_id": i, "system": m, "worker_id": j, "is_factual": choice(("yes", "no"), i, m, j)}
            | {"is_fluent": choice(("Yes", "No"), j, m, i), "reason": f"because {i} {m} {j}"}
            for i, m, j in CELLS
        ],
        {"doc_id": "item", "system": "generator", "worker_id": "judge", "is_factual": "score", "is_fluent": "score"},
    ),
    "a judgement of booleans": (
        [
            {"id": i, "model": m, "judgment": {name: choice((True, False), i, m, name) for name in ("ok", "kind")}}
            for i, m in itertools.product(ITEMS, MODELS)
        ],
        {"id": "item", "model": "generator", "judgment": "score"},
    ),
    "several raters": (
        [
            {"id": i, "model": m, **{f"rater_{n}": points(i, m, n) for n in (1, 2, 3)}}
            for i, m in itertools.product(ITEMS, MODELS)
        ],
        {"id": "item", "model": "generator", **{f"rater_{n}": "score" for n in (1, 2, 3)}},
    ),
    "repetitions": (
        [
            {"id": i, "model": m, "repeat": n, "score": points(i, m, n)}
            for i, m, n in itertools.product(ITEMS, MODELS, (1, 2))
        ],
        {"id": "item", "model": "generator", "repeat": "repeat", "score": "score"},
    ),
    "a property beside a score": (
        [{"id": i, "model": m, "judge": j, "level": points(i), "score": points(i, m, j)} for i, m, j in CELLS],
        {"id": "item", "model": "generator", "judge": "judge", "score": "score"},
    ),
    "a score and a cost": (
        [
            {"id": i, "model": m, "cost": points(i, m, most=99) / 7, "score": points(i, m)}
            for i, m in itertools.product(ITEMS, MODELS)
        ],
        {"id": "item", "model": "generator", "score": "score"},
    ),
    "verdicts": (
        [
            {
                "question_id": i,
                "model_a": "larch",
                "model_b": "maple",
                "judge": j,
                "winner": choice(("A", "B", "tie"), i, j),
            }
            for i, j in PAIRS
        ],
        {"question_id": "item", "model_a": "a", "model_b": "b", "judge": "judge", "winner": "verdict"},
    ),
    "a winner by name": (
        [
            {"question_id": i, "model_a": "larch", "model_b": "maple", "judge": j, "winner": choice(MODELS, i, j)}
            for i, j in PAIRS
        ],
        {"question_id": "item", "model_a": "a", "model_b": "b", "judge": "judge", "winner": "verdict"},
    ),
    "two scores": (
        [
            {
                "id": i,
                "model_1": "larch",
                "model_2": "maple",
                "judge": j,
                "score_1": points(i, j),
                "score_2": points(j, i),
            }
            for i, j in PAIRS
        ],
        {"id": "item", "model_1": "a", "model_2": "b", "judge": "judge", "score_1": "verdict", "score_2": "verdict"},
    ),
}
_ROLES = {"file": "item", "item": "item", "generator_model": "generator", "judge_model": "judge", "scores": "score"}


def roles_in(dialect):
    """What a dialect takes each column for."""
    declared = dialect.get("comparison") or dialect["fields"]
    found: dict[str, str] = {}
    for name, value in declared.items():
        role = (
            "verdict" if "comparison" in dialect and name in ("scores", "winner", "verdict") else _ROLES.get(name, name)
        )
        if name == "factors":
            found |= dict.fromkeys(pointers_in({"repeat": value.get("repeat", {})}), "repeat")
        else:
            found |= dict.fromkeys(pointers_in({name: value}), role)
    found |= dict.fromkeys(dialect.get("parts", ()), "score")
    return {at.split("/")[1]: role for at, role in found.items() if at.startswith("/")}


def find_silent_fields(rows, wanted):
    """The fields that a lone reading, or each of several, takes for something else without a doubt that names them."""
    found = propose(io.BytesIO("".join(json.dumps(row) + "\n" for row in rows).encode()))
    if isinstance(found, str):
        return []
    silent = []
    for reading, _ in found.readings:
        taken, doubts = roles_in(reading.dialect), " ".join(reading.doubts).replace(",", " ").replace(";", " ")
        said = {word.strip("/():").partition("/")[0] for word in doubts.split()}
        wrong = [name for name in {*wanted, *taken} if taken.get(name, "") != wanted.get(name, "") and name not in said]
        silent.append([(name, taken.get(name, ""), wanted.get(name, ""), reading.doubts) for name in wrong])
    return min(silent, key=len)


def rename(rows, names, order):
    return [{names.get(key, key): row[key] for key in sorted(row, key=lambda key: order[key])} for row in rows]


@pytest.mark.parametrize("renamed", [0, 1, 2, 3])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_field_with_a_name_that_says_nothing_is_told(layout, renamed):
    rows, meaning = LAYOUTS[layout]
    draw = random.Random(layout)
    chosen = list(itertools.combinations(rows[0], renamed))
    for columns in draw.sample(chosen, min(8, len(chosen))):
        names = {column: f"x{number}7" for number, column in enumerate(columns)}
        order = {key: draw.random() for key in rows[0]}
        wanted = {names.get(name, name): role for name, role in meaning.items()}
        assert find_silent_fields(rename(rows, names, order), wanted) == [], names
