"""Small files in the shapes in which people publish judgements: what is proposed works exactly as it is printed.

Each case states the tables of the right readings. Every printed command is run; where several readings are printed, one
of them is right, and the output says that they are about as likely.
"""

import gzip
import json
import random
import shlex
from collections import Counter, defaultdict
from pathlib import Path

import pytest

import normalizer
from normalizer.cli import main
from normalizer.documents.lossless import Number
from normalizer.guess.fields.profile import Profile
from normalizer.guess.nested import _collect_at
from normalizer.guess.rows import FileRows
from tests.support.studies import output


def lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def table(head, *rows, mark=","):
    return "\n".join([mark.join(head), *(mark.join(map(str, row)) for row in rows)]) + "\n"


RATED = [
    {"id": f"q{n}", "model": m, "judge": "j", "rating": 1 + (n + len(m)) % 5} for n in range(6) for m in ("a", "bb")
]
LONG = "An answer that is long enough not to be taken for the name of anything at all. " * 2

COMMON = ("fluency", "coherence")

# name: text of the file, readings printed, and what the right one gives: means by generator and dimension, or wins
SCORES = {
    "long, JSON lines": (lines(RATED), 1, {("a", "rating"): (6, 17 / 6), ("bb", "rating"): (6, 3.0)}),
    "an array with a counter and a cost": (
        json.dumps([{"idx": n, "system": "s", "cost": n / 7, "quality": n % 3} for n in range(9)]),
        1,
        {("s", "quality"): (9, 1.0)},
    ),
    "cells with failures": (
        table(
            ("id", "model", "score"), (1, "a", 4), (2, "a", ""), (3, "a", 5), (4, "b", "N/A"), (5, "b", 2), (6, "b", 2)
        ),
        1,
        {("a", "score"): (2, 4.5), ("b", "score"): (2, 2.0)},
    ),
    "tabs and numbers out of ten": (
        table(("item", "model", "grade"), (1, "a", "7/10"), (2, "a", "10/10"), (3, "b", "0/10"), mark="\t"),
        1,
        {("a", "grade"): (2, 8.5), ("b", "grade"): (1, 0.0)},
    ),
    "keys that name people": (
        json.dumps({f"q{n}": {f"worker_{w}": {"Fluency": n, "Clarity": w} for w in (1, 2, 3)} for n in range(4)}),
        1,
        {("unnamed-generator", "Fluency"): (12, 1.5), ("unnamed-generator", "Clarity"): (12, 2.0)},
    ),
    "an object with a number of each judge": (
        lines([{"id": n, "model": "m", "judges": {"j-1": n % 3, "k-2": n % 2}} for n in range(6)]),
        1,
        {("m", "score"): (12, 0.75)},
    ),
    "crowd work, whose rows lack the cells that nobody filled in": (
        table(
            ("HITId", "WorkerId", "Input.system", "Answer.fluency", "Answer.meaning", "Approve", "Reject"),
            *((f"h{n}", f"w{w}", "xy"[n % 2], (n + 2 * w) % 3, (n + w) % 3) for n in range(6) for w in (1, 2, 3)),
        ),
        1,
        {(s, d): (9, 1.0) for s in "xy" for d in ("Answer.fluency", "Answer.meaning")},
    ),
    "crowd work with several items in a row": (
        table(
            (
                *("WorkerId", *(f"Input.query{n}" for n in (1, 2, 3)), *(f"Answer.pair{n}" for n in (1, 2, 3))),
                *("", "", "Approve", "Reject"),
            ),
            *(
                (f"w{w}", *(f"why {h} {n}?" for n in (1, 2, 3)), *((h + w + n) % 5 for n in (1, 2, 3)), "", "", "", "")
                for h in range(5)
                for w in (1, 2)
            ),
        ),
        1,
        {("unnamed-generator", "score"): (30, 2.0)},
    ),
    "objects of scores, each of a system": (
        lines(
            [
                {"case": n, "base_scores": {"fluency": n % 3, "zest": 1, "note": LONG}}
                | {"tuned_scores": {"fluency": 2, "zest": (n + 1) % 3, "note": LONG}}
                for n in range(6)
            ]
        ),
        1,
        {
            ("base_scores", "fluency"): (6, 1.0),
            ("base_scores", "zest"): (6, 1.0),
            ("tuned_scores", "fluency"): (6, 2.0),
            ("tuned_scores", "zest"): (6, 1.0),
        },
    ),
    "criteria of several systems, each a column": (
        table(
            ("id", "rater", *(f"{s}_{c}" for s in ("old", "new", "gold") for c in ("fluency", "zest")), "num_words"),
            *(
                (n, f"p{w}", *((n + w + s + c) % 3 for s in range(3) for c in (0, 1)), 40 + n)
                for n in range(6)
                for w in (1, 2)
            ),
        ),
        1,
        {(s, "score"): (24, 1.0) for s in ("old", "new", "gold")},
    ),
    "criteria of several raters, each a column": (
        table(
            ("doc_id", "system", *(f"{c}_ann{k}" for k in (1, 2, 3) for c in ("fluency", "coherence"))),
            *((n, s, *((n + k + c) % 3 for k in range(3) for c in (0, 1))) for n in range(6) for s in "xy"),
        ),
        1,
        {(s, "score"): (36, 1.0) for s in "xy"},
    ),
    "models below criteria below a word for scores": (
        lines(
            [
                {"id": n, "scores": {c: {m: (n + k) % 3 for k, m in enumerate(("gpt-4", "llama"))} for c in COMMON}}
                for n in range(6)
            ]
        ),
        1,
        {(m, "score"): (12, 1.0) for m in ("gpt-4", "llama")},
    ),
    "columns that say nothing, beside an item and a system": (
        table(
            ("doc_id", "system", "alice", "bob", "carol"),
            *((n, s, *(1 + (n + k) % 4 for k in range(3))) for n in range(8) for s in "xy"),
        ),
        1,
        {(s, "score"): (24, 2.5) for s in "xy"},
    ),
    "a form whose columns are criteria of numbered images": (
        table(
            ("Timestamp", *(f"image_0{n}_{c}" for n in (1, 2, 3, 4) for c in ("calm", "safety"))),
            *((f"2026-05-0{w}", *(1 + (w + n + c) % 5 for n in (1, 2, 3, 4) for c in (0, 1))) for w in range(1, 6)),
        ),
        1,
        {("unnamed-generator", "score"): (40, 3.0)},
    ),
    "blank lines and a comment before the names": (
        "# from a run\n,,\n" + table(("id", "model", "score"), *((n, "m", n % 3) for n in range(9))),
        1,
        {("m", "score"): (9, 1.0)},
    ),
    "the only field that may be a judgement, beside an item": (
        lines([{"id": f"x{n // 2}", "tier": "ab"[n % 2], "adequate": n % 3 > 0} for n in range(12)]),
        1,
        {("unnamed-generator", "adequate"): (12, 2 / 3)},
    ),
    "what a judge's reply was parsed into, with a verdict that not every reply has": (
        lines(
            [
                {
                    "id": n,
                    "generator": "g",
                    "judge": "j",
                    "parse_ok": n % 5 > 0,
                    "parsed": {
                        "verdicts": {"c1": "sat", **({"c2": ("sat", "unsat")[n % 2]} if n % 4 else {})},
                        "whole": n % 4,
                    }
                    if n % 5
                    else None,
                }
                for n in range(20)
            ]
        ),
        1,
        {
            ("g", "parsed.verdicts.c1"): (16, 1.0),
            ("g", "parsed.verdicts.c2"): (12, 1 / 3),
            ("g", "whole"): (16, 1.5),
        },
    ),
    "names that begin like that of a criterion, on its scale": (
        lines([{"id": n, "model": "m", "q_fluency": n % 5, "q_zest": (n + 1) % 5} for n in range(10)]),
        1,
        {("m", "q_fluency"): (10, 2.0), ("m", "q_zest"): (10, 2.0)},
    ),
    "a criterion after another word": (
        table(("id", "system", "rater_id", "inner_simplicity"), *((n // 2, "s", n % 2, n % 3 - 1) for n in range(12))),
        1,
        {("s", "inner_simplicity"): (12, 0.0)},
    ),
    "criteria below names of judges, in rows that name what was compared": (
        lines(
            [
                {
                    "id": n,
                    "condition": "xy"[n % 2],
                    "scores": {
                        judge: {"novelty": (n + k) % 8, "sparkle": 1 + (n + k) % 8, "clarity": (n + k) % 4 + 5}
                        for k, judge in enumerate(("gpt-4", "qwen"))
                    },
                }
                for n in range(8)
            ]
        ),
        1,
        {(m, d): (8, mean) for m in "xy" for d, mean in (("novelty", 3.5), ("sparkle", 4.5), ("clarity", 6.5))},
    ),
    "two criteria of two systems, in words that say nothing": (
        table(
            ("conv_id", "base_rel", "base_div", "tuned_rel", "tuned_div"),
            *((n, 1 + n % 5, 1 + n * 2 % 5, 1 + n * 3 % 5, 5 - n % 5) for n in range(20)),
        ),
        1,
        {("unnamed-generator", name): (20, 3.0) for name in ("base_rel", "base_div", "tuned_rel", "tuned_div")},
    ),
    "scores of generators whose answers have columns": (
        table(
            ("question", "base_pred", "ft_pred", "base_judge_score", "ft_judge_score"),
            *((f"q{n}", f"text {n}", f"other {n}", n % 5, 4) for n in range(10)),
        ),
        1,
        {("base_judge_score", "score"): (10, 2.0), ("ft_judge_score", "score"): (10, 4.0)},
    ),
    "yes and no at the beginning of a text": (
        lines([{"id": n, "response": f"{('Yes', 'No', 'No')[n % 3]}.\n\nBecause of {n}: {LONG}"} for n in range(9)]),
        1,
        {("unnamed-generator", "response"): (9, 1 / 3)},
    ),
    "a number after a word at the beginning of a text": (
        lines([{"id": n, "model": "m", "reply": f"**Score:** {n % 4}/5. It is {LONG}{n}"} for n in range(8)]),
        1,
        {("m", "reply"): (8, 1.5)},
    ),
    "numbers with a decimal comma in a text": (
        lines([{"id": n, "model": "m", "reply": f"Score: {n % 4},5 for {n}, {LONG}"} for n in range(8)]),
        1,
        {("m", "reply"): (8, 2.0)},
    ),
    "numbers below zero in a text": (
        lines([{"id": n, "model": "m", "reply": f"Score: {n % 4 - 2} for {n}, {LONG}"} for n in range(8)]),
        1,
        {("m", "reply"): (8, -0.5)},
    ),
    "a number at the beginning, and another one further on": (
        lines([{"id": n, "model": "m", "reply": f"{n % 4}/10, but {n % 3} errors: {LONG}{n}"} for n in range(8)]),
        1,
        {("m", "reply"): (8, 1.5)},
    ),
    "a number of a program beside that of a judge": (
        lines([{"id": n, "model": "m", "bm25_score": n / 7.0 + 0.1234, "judge_score": n % 4} for n in range(8)]),
        1,
        {("m", "judge_score"): (8, 1.5)},
    ),
    "a criterion beside one with the same numbers, items told apart by two levels": (
        json.dumps(
            [
                {
                    "seg": s,
                    "cond": c,
                    "arm": a,
                    "judge": j,
                    "adequacy": 1 + (k + m) % 3,
                    "tw_locale": 1 + (k + 2 * m) % 3,
                }
                for k, (s, c) in enumerate([(s, c) for s in ("one", "two", "three") for c in ("x", "y")])
                for m, (a, j) in enumerate([(a, j) for a in ("A", "C") for j in ("gpt-4", "qwen")])
            ]
        ),
        1,
        {(arm, name): (12, 2.0) for arm in "AC" for name in ("adequacy", "tw_locale")},
    ),
    "scales at the ends of names": (
        table(
            ("question_id", "answer_correct_0_1", "answer_grounded_0_1", "style_1_5"),
            *((n, n % 2, n // 2 % 2, 1 + n % 5) for n in range(20)),
        ),
        1,
        {
            ("unnamed-generator", name): (20, mean)
            for name, mean in (("answer_correct_0_1", 0.5), ("answer_grounded_0_1", 0.5), ("style_1_5", 3.0))
        },
    ),
    "percentages": (
        table(("item", "model", "score"), (1, "a", "70%"), (2, "a", "85 %"), (3, "b", "12.5%"), (4, "b", "70%")),
        1,
        {("a", "score"): (2, 77.5), ("b", "score"): (2, 41.25)},
    ),
    "verdicts of yes and no": (
        json.dumps(
            [{"story_id": n // 2, "test": n % 2, "binary_verdict": ("Yes", "No", "No")[n % 3]} for n in range(9)]
        ),
        1,
        {("unnamed-generator", "binary_verdict"): (9, 1 / 3)},
    ),
    "a scale in the name of a column": (
        table(("item", "model", "Correct ones", "Effort (out of 10)"), (1, "a", 4, 7), (2, "a", 4, 7), (3, "b", 1, 2)),
        1,
        {("a", "Effort (out of 10)"): (2, 7.0), ("b", "Effort (out of 10)"): (1, 2.0)},
    ),
    "a judgement of booleans, one beside its reason": (
        json.dumps(
            [
                {"id": n, "base": {"match": n % 2 == 0, "reason": LONG}, "tuned": {"match": n % 3 > 0, "reason": LONG}}
                for n in range(6)
            ]
        ),
        1,
        {("base", "match"): (6, 0.5), ("tuned", "match"): (6, 4 / 6)},
    ),
    "columns on the scale of criteria": (
        table(
            ("rating_id", "user_id", "clarity", "usefulness", "review_confidence"),
            *((n, f"u{n % 3}", 1 + n % 5, 5 - n % 5, 1 + n * 3 % 5) for n in range(15)),
        ),
        1,
        {("unnamed-generator", name): (15, 3.0) for name in ("clarity", "usefulness", "review_confidence")},
    ),
    "conditions of an item beside what several said of it": (
        table(
            ("Text", "Annotator", "method", "Coherence", "a_Clarity", "a_Joy", "Certainty"),
            *(
                (f"text {n // 3}", n % 3, "xy"[n // 3 % 2], 1 + n % 5, 1 + n * 2 % 5, 1 + n * 3 % 5, n // 3 % 2)
                for n in range(30)
            ),
        ),
        1,
        {
            (m, d): (15, mean)
            for m, d, mean in (
                ("x", "Coherence", 3.0),
                ("x", "a_Clarity", 3.0),
                ("x", "a_Joy", 3.0),
                ("y", "Coherence", 3.0),
                ("y", "a_Clarity", 3.0),
                ("y", "a_Joy", 3.0),
            )
        },
    ),
    "several criteria in an object": (
        json.dumps([{"doc_id": n, "system_id": "s", "scores": {"fluency": 3, "coherence": n % 2}} for n in range(4)]),
        1,
        {("s", "fluency"): (4, 3.0), ("s", "coherence"): (4, 0.5)},
    ),
    "objects keyed by item": (
        json.dumps({f"q{n}": {"response_model": "m", "eval_model_name": "j", "score": n} for n in range(5)}),
        1,
        {("m", "score"): (5, 2.0)},
    ),
    "rows deep in a document": (
        json.dumps({"model": "m", "run": {"1": {"scores": {str(n): {"score": n / 4, "x": None} for n in range(5)}}}}),
        1,
        {("m", "score"): (5, 0.5)},
    ),
    "lists of repeats": (
        lines([{"id": n, "model": "m", "gpt4_score": [n, n + 1, 3]} for n in (1, 2, 3)]),
        1,
        {("m", "gpt4_score"): (9, 24 / 9)},
    ),
    "a column for each judge": (
        table(
            ("question", "model", "GPT-4", "Llama-7B", "Human"),
            ("x", "m", "True", "False", "True"),
            ("y", "m", "True", "True", "False"),
            ("z", "n", "False", "False", "False"),
        ),
        1,
        {("m", "score"): (6, 4 / 6), ("n", "score"): (3, 0.0)},
    ),
    "a column for each system": (
        table(
            ("query", "response-one-label-x", "response-two-label-x"),
            ("p", 1, 2),
            ("q", 3, "X"),
            ("r", 2, 2),
            ("s", 1, 0),
        ),
        2,
        {("response-one-label-x", "score"): (4, 1.75), ("response-two-label-x", "score"): (3, 4 / 3)},
    ),
    "words for 0 and 1": (
        json.dumps({"about": "x", "rows": [{"id": n, "label": "Yes" if n % 2 else "No"} for n in range(4)]}),
        1,
        {("unnamed-generator", "label"): (4, 0.5)},
    ),
    "two groups of criteria": (
        json.dumps(
            [{"system": "s", "scores": {"overall": 1, "style": 2}, "predicted_scores": {"overall": 0.5, "style": 0.25}}]
            * 3
        ),
        2,
        {("s", "overall"): (3, 1.0), ("s", "style"): (3, 2.0)},
    ),
    "cells with blanks between them": (
        table(("system", "avg_score", "seg_id"), ("s", -2.5, 1), ("s", -1.5, 2), ("t", 0, 1), mark=" "),
        1,
        {("s", "avg_score"): (2, -2.0), ("t", "avg_score"): (1, 0.0)},
    ),
    "cells without a line of names": (
        "".join(f"c{n}\t{n % 2}\t\tSentence {n} is one of its own.\n" for n in range(8)),
        1,
        {("unnamed-generator", "column_2"): (8, 0.5)},
    ),
    "columns of scores that are no judges": (
        lines([{"id": n, "model": "m", "first_pass_score": n % 3, "revised_score": n % 2} for n in range(6)]),
        1,
        {("m", "first_pass_score"): (6, 1.0), ("m", "revised_score"): (6, 0.5)},
    ),
    "a field of the row beside those of its claims": (
        lines(
            [
                {"id": n, "model": "m", "whole_factuality": n % 2 == 0, "claims": [{"factuality": True}] * 2}
                for n in range(4)
            ]
        ),
        1,
        {("m", "whole_factuality"): (4, 0.5)},
    ),
    "minus one where the judge failed": (
        lines([{"id": n, "model": "m", "score": -1 if n == 7 else n % 5} for n in range(10)]),
        1,
        {("m", "score"): (9, 18 / 9)},
    ),
    "ratings of numbered people beside what was made of them": (
        table(
            ("row", "text_id", "system", "rating_1", "rating_2", "rating_3", "rating_1_zscore"),
            *((2 * n + k, n, s, n, n + 1, 2 + k, (n - 2) / 7) for n in range(4) for k, s in enumerate("st")),
        ),
        1,
        {("s", "score"): (12, 24 / 12), ("t", "score"): (12, 28 / 12)},
    ),
    "a noun of quality beside flags": (
        json.dumps([{"task": "t", "n_id": n, "is_flip": n > 2, "convincingness": 1 + n % 5} for n in range(5)]),
        1,
        {("unnamed-generator", "convincingness"): (5, 3.0)},
    ),
    "questions of yes and no": (
        table(
            ("diagram_id", "Shape is closed", "In frame", "Labels match", "Applies"),
            *((n, "Yes", "No" if n else "Yes", "N/A" if n == 2 else "Yes", "N/A") for n in range(4)),
        ),
        1,
        {
            ("unnamed-generator", "Shape is closed"): (4, 1.0),
            ("unnamed-generator", "In frame"): (4, 0.25),
            ("unnamed-generator", "Labels match"): (3, 1.0),
        },
    ),
    "criteria of a numbered person, some not rated": (
        table(
            ("subject_id", "filename", "human_sweetness", "human_saltiness", "human_density"),
            *((n % 3, f"f{n // 3}.png", n, "" if n == 4 else 9 - n, 5) for n in range(9)),
        ),
        1,
        {
            ("unnamed-generator", "human_sweetness"): (9, 4.0),
            ("unnamed-generator", "human_saltiness"): (8, 5.0),
            ("unnamed-generator", "human_density"): (9, 5.0),
        },
    ),
    "one criterion a row": (
        table(
            ("text_id", "worker_id", "aspect", "rating"),
            *((n, w, a, n + w + len(a)) for n in range(3) for w in range(2) for a in ("fluency", "meaning")),
        ),
        1,
        {("unnamed-generator", "rating"): (12, 8.5)},
    ),
    "a word and its negation": (
        table(("id", "model", "label"), *((n, "m", "Fully right" if n else "Not fully right") for n in range(4))),
        1,
        {("m", "label"): (4, 0.75)},
    ),
    "steps of agreement": (
        table(("id", "model", "rating"), *((n, "m", ("Agree", "strongly agree", "Neutral")[n % 3]) for n in range(6))),
        1,
        {("m", "rating"): (6, 4.0)},
    ),
    "lists of reviews below keys": (
        lines(
            [
                {
                    "passage-id": f"p{n}",
                    "questions": {
                        str(q): {
                            s: {
                                "text": LONG,
                                "reviews": [{"system": s, "worker_id": w, "rating": n + q} for w in "xyz"],
                            }
                            for s in ("bart", "human")
                        }
                        for q in range(2)
                    },
                }
                for n in range(3)
            ]
        ),
        1,
        {("bart", "rating"): (18, 1.5), ("human", "rating"): (18, 1.5)},
    ),
    "answers of several systems in one row": (
        json.dumps(
            [{"doc_id": n, "gen": {s: {"text": LONG, "score": n + k} for k, s in enumerate("stu")}} for n in range(4)]
        ),
        1,
        {("s", "score"): (4, 1.5), ("t", "score"): (4, 2.5), ("u", "score"): (4, 3.5)},
    ),
    "lists of one document under names of systems": (
        json.dumps(
            {
                "judge_model": "j",
                "detailed": {
                    s: [{"prompt_id": n, "empathy": 1 + n % 4, "safety": 2, "relevance": n % 5} for n in range(5)]
                    for s in ("base", "tuned")
                },
            }
        ),
        1,
        {
            (s, name): (5, value)
            for s in ("base", "tuned")
            for name, value in (("empathy", 2.2), ("safety", 2.0), ("relevance", 2.0))
        },
    ),
    "two answers in one row, each with its scores": (
        json.dumps(
            [
                {"qid": n, **{f"model{k}": {"model_name": f"m{k}", "text": LONG, "score": n + k} for k in (1, 2)}}
                for n in range(4)
            ]
        ),
        1,
        {("m1", "score"): (4, 2.5), ("m2", "score"): (4, 3.5)},
    ),
}
DUELS = {
    "a winner beside a loser": (
        table(("winner", "loser"), ("a", "b"), ("b", "a"), ("a", "b"), ("a", "c")),
        1,
        {("a", "b"): {"a": 2}, ("b", "a"): {"a": 1}, ("a", "c"): {"a": 1}},
    ),
    "a winner beside a loser, called by the sides of two columns": (
        table(
            ("model_a", "model_b", "winner", "loser"), *(("x", "y", "ab"[n % 3 > 0], "ba"[n % 3 > 0]) for n in range(6))
        ),
        1,
        {("x", "y"): {"a": 2, "b": 4}},
    ),
    "a winner beside a loser, called by the names in two columns": (
        table(
            ("model_a", "model_b", "winner", "loser"), *(("x", "y", "xy"[n % 3 > 0], "yx"[n % 3 > 0]) for n in range(6))
        ),
        1,
        {("x", "y"): {"a": 2, "b": 4}},
    ),
    "a verdict that differs from the scores beside it in a few rows": (
        lines(
            [
                {"id": n, "answer_a": LONG, "answer_b": LONG, "preference": "Tie" if n == 5 else "AB"[n % 2]}
                | {"score_a": 5 - n % 2, "score_b": 4 + n % 2}
                for n in range(10)
            ]
        ),
        1,
        {("answer_a", "answer_b"): {"a": 5, "b": 4, "draw": 1}},
    ),
    "both orders, and a verdict about what stood first": (
        lines(
            [
                {"pair_id": n, "judge": j, "order": order, "winner": "AB"[(n % 3 > 0) ^ (order == "BA")]}
                for n in range(9)
                for j in "jk"
                for order in ("AB", "BA")
            ]
        ),
        1,
        {("answer-1", "answer-2"): {"a": 12, "b": 24}},
    ),
    "both orders, and a verdict about the answers": (
        lines(
            [
                {"pair_id": n, "judge": "j", "swapped": swapped, "winner": "AB"[n % 3 > 0]}
                for n in range(9)
                for swapped in (False, True)
            ]
        ),
        1,
        {("answer-1", "answer-2"): {"a": 6, "b": 12}},
    ),
    "a pick": (
        lines([{"id": n, "text_a": LONG, "text_b": LONG, "human_pick": "ABBTIE"[n % 3]} for n in range(9)]),
        1,
        {("text_a", "text_b"): {"a": 3, "b": 6}},
    ),
    "a winner of two words": (
        lines([{"id": n, "judge": "j", "winner": ("plain", "variant", "tie")[n % 3]} for n in range(7)]),
        1,
        {("plain", "variant"): {"a": 3, "b": 2, "draw": 2}},
    ),
    "a winner named as another field does, or by one word": (
        table(
            ("sentence_id", "worker_id", "aspect", "other", "winner"),
            *(
                (n, w, a, ("x", "y")[n % 2], ("ours", ("x", "y")[n % 2], "similar")[(n + w) % 3])
                for n in range(6)
                for w in (1, 2)
                for a in ("fluency", "meaning")
            ),
        ),
        1,
        {("ours", "x"): {"a": 4, "b": 4, "draw": 4}, ("ours", "y"): {"a": 4, "b": 4, "draw": 4}},
    ),
    "one number for two answers": (
        lines(
            [
                {"id": n, "answer1_id": f"x{n}", "answer2_id": f"y{n}", "score": -1 if n == 9 else 1 + n % 3}
                for n in range(10)
            ]
        ),
        1,
        {("answer1_id", "answer2_id"): {"a": 3, "b": 3, "draw": 3}},
    ),
    "two numbers in a list for two answers": (
        lines([{"id": n, "answer1": LONG, "answer2": LONG, "score": [n, 2.0]} for n in range(5)]),
        1,
        {("answer1", "answer2"): {"a": 2, "b": 2, "draw": 1}},
    ),
    "two rounds of one pair": (
        lines(
            [
                {"id": n, "model_1": "x", "model_2": "y", "g1_winner": "model_1", "g2_winner": f"model_{1 + n % 2}"}
                for n in range(4)
            ]
        ),
        1,
        {("x", "y"): {"a": 6, "b": 2}},
    ),
    "degrees on both sides of zero": (
        lines(
            [
                {"id": n, **{f"model{k}": {"model_name": f"m{k}", "text": LONG} for k in (1, 2)}, "label": n - 2}
                for n in range(5)
            ]
        ),
        2,
        {("m1", "m2"): {"a": 2, "b": 2, "draw": 1}},
    ),
    "two models and a winner": (
        lines(
            [
                {"id": n, "model_a": "x", "model_b": "y", "winner": ("model_a", "model_b", "tie")[n % 3]}
                for n in range(6)
            ]
        ),
        1,
        {("x", "y"): {"a": 2, "b": 2, "draw": 2}},
    ),
    "numbers that may mean two things": (
        lines(
            [{"id": n, "response_1": LONG, "response_2": LONG, "label": n % 3} for n in range(9)]
            + [{"id": 10, "response_1": LONG, "response_2": LONG, "label": 0}]
        ),
        2,
        {("response_1", "response_2"): {"a": 4, "b": 3, "draw": 3}},
    ),
    "several annotators": (
        json.dumps(
            [{"idx": n, "response1": LONG, "response2": LONG, "annotator1": 1, "annotator2": 2} for n in range(3)]
        ),
        1,
        {("response1", "response2"): {"a": 3, "b": 3}},
    ),
    "scores of both": (
        lines([{"id": n, "answer_1": LONG, "answer_2": LONG, "score_1": n, "score_2": 2} for n in range(5)]),
        1,
        {("answer_1", "answer_2"): {"a": 2, "b": 2, "draw": 1}},
    ),
    "words beside a few failures": (
        lines([{"idx": n, "gpt_result": "garbage" if n == 19 else ("1", "2", "Tie")[n % 3]} for n in range(20)]),
        1,
        {("answer-1", "answer-2"): {"a": 7, "b": 6, "draw": 6}},
    ),
    "a label that says what the scores say": (
        lines(
            [
                {"id": n, "response_1": LONG, "response_2": LONG, "score_1": n, "score_2": 2.5, "label": int(n < 2.5)}
                for n in range(5)
            ]
        ),
        1,
        {("response_1", "response_2"): {"a": 2, "b": 3}},
    ),
    "verdicts at the start of free text": (
        lines([{"id": n, "cost": n / 7, "output": f"{'ABC'[n % 3]}: it is better.\n\n{LONG}"} for n in range(6)]),
        1,
        {("answer-1", "answer-2"): {"a": 2, "b": 2, "draw": 2}},
    ),
    "verdicts in brackets inside free text": (
        lines([{"id": n, "cost": n / 7, "output": f"{LONG} So [[{'AB'[n % 2]}]]. {LONG}"} for n in range(6)]),
        1,
        {("answer-1", "answer-2"): {"a": 3, "b": 3}},
    ),
    "both orders of one pair": (
        json.dumps(
            [
                {
                    "output_1": LONG,
                    "output_2": LONG,
                    "label": 1,
                    "results": [{"swap = False": {"winner": "1"}, "swap = True": {"winner": str(1 + n % 2)}}],
                }
                for n in range(4)
            ]
        ),
        1,
        {("output_1", "output_2"): {"a": 6, "b": 2}},
    ),
}


def run_printed(folder, text, capsys, monkeypatch):
    """Run what `guess` prints; the output, and the records of each reading."""
    monkeypatch.chdir(folder)
    (folder / "file").write_text(text)
    capsys.readouterr()
    assert main(["guess", "file"]) == 0
    said = capsys.readouterr().out
    readings = []
    for line in said.splitlines():
        if line.startswith("normalizer "):
            argv = shlex.split(line)[1:]
            assert main(argv) in ((0, 1) if argv[0] == "normalize" else (0,)), line
            if argv[0] == "normalize":
                path = folder / argv[-1] / "records.jsonl"
                readings.append([json.loads(each) for each in path.read_text().splitlines()])
            elif argv[0] != "guess":
                assert "diagnostic" not in capsys.readouterr().err
    return said, readings


def means(records):
    cells = defaultdict(list)
    for record in records:
        for name, score in record.get("scores", {}).items():
            cells[record["generator_model"], name].append(score)
    return {key: (len(scores), pytest.approx(sum(scores) / len(scores))) for key, scores in cells.items()}


def wins(records):
    pairs: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for record in records:
        if "outcome" in record:
            pairs[record["outcome"]["a"], record["outcome"]["b"]][record["outcome"]["winner"]] += 1
    return {key: dict(counted) for key, counted in pairs.items()}


@pytest.mark.parametrize("name", SCORES)
def test_scores_come_out_as_they_are_in_the_file(name, tmp_path, capsys, monkeypatch):
    text, count, wanted = SCORES[name]
    said, readings = run_printed(tmp_path, text, capsys, monkeypatch)
    assert len(readings) == count, said
    assert wanted in [means(records) for records in readings], said
    assert ("about as likely" in said) is (count > 1)


@pytest.mark.parametrize("name", DUELS)
def test_comparisons_come_out_as_they_are_in_the_file(name, tmp_path, capsys, monkeypatch):
    text, count, wanted = DUELS[name]
    said, readings = run_printed(tmp_path, text, capsys, monkeypatch)
    assert len(readings) == count, said
    assert wanted in [wins(records) for records in readings], said
    assert ("about as likely" in said) is (count > 1)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "it is empty"),
        ("system score seg\nx 1 2\ny 1\nz 2 3\n", "names of columns"),
        ("gj04\t1\t\tA sentence.\ncj99\t0\tAnother.\nx\t1\n", "its first line is not names of columns but data"),
        ("item,1,2\na,4,5\nb,4,3\n", "its first line is not names of columns but data"),
        (table(("name", "win_rate", "avg_length"), ("m", 77.0, 1365), ("n", 50.0, 900)), "a table of results"),
        (table(("variant", "n_judged", "judge_accuracy"), ("x", 50, 1.36), ("y", 50, 1.32)), "a table of results"),
        (table(("model", "shots", "fluency"), ("m", "few", 7.95), ("m", "no", 8.18), ("n", "few", 9.13)), "of results"),
        (table(("model", "score", "rating_q025"), ("m", 77.0, 70), ("n", 50.0, 49)), "a table of results"),
        (lines([{"id": n, "cost": n / 3, "output": LONG} for n in range(5)]), "looks like a score or a verdict"),
        (lines([{"id": n, "severity": "Minor"} for n in range(5)]), "looks like a score or a verdict"),
        # Two ends of a range, and a dash that may be a sign, are no score.
        (lines([{"id": n, "out": f"Rating: {n % 3}-{n % 2 + 3} in {n}"} for n in range(9)]), "looks like a score"),
        (
            lines([{"id": n, "out": f"Rating: {n % 3}.5\u2013{n % 2 + 3} in {n}"} for n in range(9)]),
            "looks like a score",
        ),
        (lines([{"id": n, "out": f"Score -{n % 3} in {n}"} for n in range(9)]), "looks like a score"),
        # Short answers are no names of generators.
        (
            lines([{"prompt": f"q{n}", "chosen": f"Paris {n}.", "rejected": f"Rome {n}."} for n in range(9)]),
            "looks like a score or a verdict",
        ),
        (
            lines([{"id": n, "group": n % 3, "label": ("MAJOR", "MINOR")[n % 2]} for n in range(9)]),
            "a dialect may say that one of these is: /group (0 to 2), /label (MAJOR, MINOR)",
        ),
        (
            lines([{"id": n, "rouge_l": n % 4 / 4, "label": ("MAJOR", "MINOR")[n % 2]} for n in range(9)]),
            "a dialect may say that one of these is: /label (MAJOR, MINOR)",
        ),
        (
            lines([{"topic": f"t{n}", "n_comparisons": 4, "overall_winrate": n % 3 / 2} for n in range(120)]),
            "looks like a score or a verdict",
        ),
        (
            '{\n"a": 1,\n"rows": [{"id": 1, "score": 2},]\n}\n',
            "as one document: it is not JSON: expected a value at line 3",
        ),
        ('{"a": 1, "rows": [{"id": 1, "score": 2}, {"id": 2, "score": 1}], "a": 2}', 'the key "a" stands twice'),
        (json.dumps([{f"key{n}": n for n in range(30_000)}]), "looks like a score or a verdict"),
    ],
)
def test_a_file_that_cannot_be_understood_is_refused_with_the_reason(text, why, tmp_path, capsys):
    (tmp_path / "file").write_text(text)
    assert main(["guess", str(tmp_path / "file")]) == 1
    told = capsys.readouterr()
    assert why in told.err
    assert told.out == ""
    assert main(["aggregate", str(tmp_path / "file")]) == 2
    assert "`normalizer guess" not in capsys.readouterr().err, "guess shows no reading of it"


def test_rows_that_are_much_shorter_than_the_line_of_names_say_so(tmp_path, capsys):
    (tmp_path / "batch.csv").write_text("HITId,WorkerId,Answer.score,a,b,c,Approve,Reject\nh1,w1,3\nh2,w1,4\n")
    assert main(["guess", str(tmp_path / "batch.csv")]) == 1
    assert "no row of it can be read: " in capsys.readouterr().err


def test_what_is_doubtful_is_told(tmp_path, capsys):
    rows = [
        {"policy": "p", "model": "m", "score": 1 + n % 2, "other": n % 4, "meta": {"exchange": False}} for n in range(8)
    ]
    (tmp_path / "file").write_text(lines(rows))
    assert main(["guess", str(tmp_path / "file")]) == 0
    said = capsys.readouterr().out
    for doubt in (
        "the generator is taken from /model; /policy may be meant instead",
        "no field tells the rows apart",
        "no field names the judge",
        "these fields may be judgements, too, and are not used: /other (0 to 3)",
        "scales as observed: score 1 to 2",
    ):
        assert doubt in said


def test_a_score_with_a_word_for_no_score_and_a_mean_are_told(tmp_path, capsys):
    rows = [{"id": n, "model": "m", "clarity_score": n % 4, "high_detail_score": n % 3} for n in range(9)]
    (tmp_path / "file").write_text(lines(rows))
    assert main(["guess", str(tmp_path / "file")]) == 0
    assert "/high_detail_score (0 to 2)" in capsys.readouterr().out
    rows = [{"model": f"m{n}", "n_valid": 9 + n, "mean_score": n / 8} for n in range(9)]
    (tmp_path / "file").write_text(lines(rows))
    assert main(["guess", str(tmp_path / "file")]) == 0
    assert "mean_score is called a mean: the rows may be results, not judgements" in capsys.readouterr().out


def test_rows_that_are_the_means_of_others_are_told(tmp_path, capsys):
    """A last row of averages was one more item, and no word said so."""
    rows = [("question", "model", "score"), *((f"q{n // 2}", "ab"[n % 2], n % 5 + 1) for n in range(20))]
    text = "".join(f"{question},{model},{score}\n" for question, model, score in [*rows, ("Average", "a", 3.2)])
    (tmp_path / "file.csv").write_text(text)
    assert main(["guess", str(tmp_path / "file.csv")]) == 0
    assert "/question is Average: such rows may be results of others, not judgements" in capsys.readouterr().out


def test_both_bad_is_no_draw_in_the_table(tmp_path, capsys):
    picks = ["A", "B", "Tie", "Neither", "Neither", "A"]
    text = "".join(f"q{n},m1,m2,{pick}\n" for n, pick in enumerate(picks))
    (tmp_path / "file.csv").write_text(f"question,system_a,system_b,pick\n{text}")
    assert main(["guess", str(tmp_path / "file.csv")]) == 0
    out = capsys.readouterr().out
    assert "a | b | a wins | b wins | draws | both bad" in out
    assert "m1 | m2 | 2 | 1 | 1 | 2" in out


def test_rows_elsewhere_in_the_document_are_told(tmp_path, capsys):
    document = {
        "means": {w: {"relevance": n} for n, w in enumerate("abc")},
        "turns": [{"q": "x" * n} for n in range(9)],
    }
    (tmp_path / "file").write_text(json.dumps(document))
    assert main(["guess", str(tmp_path / "file")]) == 0
    assert "more rows stand elsewhere" in capsys.readouterr().out


def test_scores_of_other_rows_of_the_document_are_told(tmp_path, capsys):
    rows = {
        name: [{"id": n, "model": name, "score": n % 5} for n in range(count)] for name, count in (("a", 9), ("b", 5))
    }
    out, _ = _proposed(json.dumps(rows), tmp_path, capsys)
    assert "other rows have scores, too, or means of these, and are not read: /b/* (5 rows)" in out


def test_numbers_on_the_scale_of_the_scores_are_told_whatever_they_are_called(tmp_path, capsys):
    rows = [{"id": n, "model": "m", "clarity": n % 5, "max_width": (n + 1) % 5, "count": n % 7} for n in range(20)]
    out, _ = _proposed(lines(rows), tmp_path, capsys)
    [doubt] = [line for line in out.splitlines() if "may be judgements, too" in line]
    assert "/max_width (0 to 4)" in doubt
    assert "/count" not in doubt


def test_numbers_that_a_program_computed_are_told_and_members_that_are_sometimes_objects_are_no_items(tmp_path, capsys):
    rows = [
        {"id": n // 2, "judge": "jk"[n % 2], "text": {"a": 1} if n == 3 else f"t{n // 2}", "score": 1 / (n + 2)}
        for n in range(24)
    ]
    out, _ = _proposed(lines(rows), tmp_path, capsys)
    assert "decimal places: are they computed, not said?" in out


def test_ranks_are_told(tmp_path, capsys):
    rows = [
        {"id": n, "worker": w, "gpt-4": 1 + (n + w) % 3, "llama": 1 + (n + w + 1) % 3, "claude": 1 + (n + w + 2) % 3}
        for n in range(9)
        for w in (0, 1)
    ]
    out, _ = _proposed(lines(rows), tmp_path, capsys)
    assert "these may be ranks, of which the least is best" in out


def test_minus_one_that_is_read_as_a_score_is_told(tmp_path, capsys):
    rows = [{"id": n, "model": "m", "judge": "j", "score": -1 if n % 3 else 4} for n in range(12)]
    out, _ = _proposed(lines(rows), tmp_path, capsys)
    assert "doubt: -1 of /score is read as a score, not as a failure of the judge" in out


def test_generators_that_are_called_as_sides_are_have_two_readings(tmp_path, capsys):
    """The winner `a` may be the side or the generator of that name; in columns in which these agree they are one."""
    rows = [
        {"id": n, "judge": "j", "model_a": "ab"[n % 2], "model_b": "ba"[n % 2], "winner": "ab"[n % 3 > 0]}
        for n in range(12)
    ]
    out, _ = _proposed(lines(rows), tmp_path, capsys)
    assert "Reading 1: comparisons: /winner names the winner" in out
    assert "Reading 2: comparisons: /winner is the verdict" in out
    straight = [{**row, "model_a": "a", "model_b": "b"} for row in rows]
    assert "Reading 2" not in _proposed(lines(straight), tmp_path, capsys)[0]


def test_columns_called_by_models_are_judges_or_generators_unless_something_says_which(tmp_path, capsys):
    rows = [{"id": n, "gpt-4": n % 5, "claude": n % 4, "llama": (n + 1) % 5} for n in range(12)]
    out, _ = _proposed(lines(rows), tmp_path, capsys)
    assert "Reading 1: scores: each of 3 columns is a judge" in out
    assert "Reading 2: scores: each of 3 columns is a generator" in out
    for known in ({"model": "m"}, {"human": 1}):
        told = [{**row, **known, **({"human": row["id"] % 5} if "human" in known else {})} for row in rows]
        assert "Reading 2" not in _proposed(lines(told), tmp_path, capsys)[0]


def test_a_file_of_equal_scores_shows_no_scale_and_gets_an_interval_once_it_is_written(tmp_path, capsys):
    file, saved, ledger = tmp_path / "eight.csv", tmp_path / "saved", str(tmp_path / "ledger")
    file.write_text("model,question_id,score\n" + "".join(f"a,q{n},8\n" for n in range(5)))
    assert main(["guess", str(file), "--save", str(saved)]) == 0
    assert "every score is 8: the file does not show the scale" in capsys.readouterr().out
    rubric = saved / "reading-1.rubric.json"
    read = ["normalize", str(file), "--dialect", str(saved / "reading-1.dialect.json"), "--rubric", str(rubric)]
    assert main([*read, "--out", ledger]) == 0
    capsys.readouterr()
    (row,) = output(capsys, "aggregate", ledger)["rows"]
    assert (row["flags"], row["total"]["ci95"]) == (["one_value_scale"], None)
    document = json.loads(rubric.read_text())
    document["dimensions"]["score"]["scale"].update(minimum=0, maximum=10)
    rubric.write_text(json.dumps(document))
    assert main([*read, "--out", ledger, "--replace"]) == 0
    capsys.readouterr()
    (row,) = output(capsys, "aggregate", ledger)["rows"]
    low, high = row["total"]["ci95"]
    assert row["flags"] == []
    assert low < 8 < high


def test_the_order_of_rows_and_fields_changes_no_reading(tmp_path, capsys):
    said = set()
    for seed in range(3):
        rows = [dict(random.Random(seed).sample(list(row.items()), len(row))) for row in RATED]
        random.Random(seed).shuffle(rows)
        (tmp_path / "file").write_text(lines(rows))
        assert main(["guess", str(tmp_path / "file")]) == 0
        said |= {line for line in capsys.readouterr().out.splitlines() if not line.startswith("  entry:")} - {""}
    assert len([line for line in said if line.startswith("Reading")]) == 1
    assert len([line for line in said if line.startswith("  table: a ")]) == 1


def test_rows_beyond_the_first_are_sampled(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("normalizer.guess.rows.FIRST", 100)
    (tmp_path / "file").write_text(lines({"id": n, "model": "m", "score": n % 7} for n in range(1_000)))
    assert main(["guess", str(tmp_path / "file")]) == 0
    assert "1000 rows in" in (said := capsys.readouterr().out)
    assert "118 of them looked at" in said


def test_what_is_around_the_parts_of_a_row_is_gathered_once_a_row():
    """20,000 members of one object took 50 s: all of them were gone through for each."""

    class Counted(dict[str, object]):
        calls = 0

        def items(self):
            Counted.calls += 1
            return super().items()

    profile = Profile()
    profile.rows.append(Counted({f"k{n}": {"score": Number(n % 5)} for n in range(50)}))
    assert _collect_at(FileRows({"kind": "json"}, profile, 1, 0, None, has_keys=False), ("*",)) is not None
    assert Counted.calls <= 2


def test_a_folder_that_cannot_be_written_is_told(tmp_path, capsys):
    (tmp_path / "file").write_text(lines(RATED))
    assert main(["guess", str(tmp_path / "file"), "--save", str(tmp_path / "file" / "x")]) == 2
    assert "cannot write to" in capsys.readouterr().err


def test_scores_out_of_several_ends_in_texts_are_told(tmp_path, capsys):
    rows = [{"id": n, "out": f"Score: {n % 4}/{(5, 10)[n % 2]} in {n}"} for n in range(9)]
    (tmp_path / "file").write_text(lines(rows))
    assert main(["guess", str(tmp_path / "file")]) == 0
    assert "doubt: numbers of /out are written in several ways: of_10, of_5" in capsys.readouterr().out


def _proposed(text, tmp_path, capsys):
    (tmp_path / "rows.jsonl").write_text(text)
    main(["guess", str(tmp_path / "rows.jsonl"), "--save", str(tmp_path / "saved")])
    return capsys.readouterr().out, json.loads((tmp_path / "saved/reading-1.dialect.json").read_text())


def test_answers_of_all_generators_and_judges_to_one_question_are_of_one_item(tmp_path, capsys):
    rows = [{"id": f"q{n}", "model": m, "judge": j, "rating": n % 5} for n in range(6) for m in "ab" for j in "xy"]
    out, dialect = _proposed(lines(rows), tmp_path, capsys)
    assert dialect["fields"]["file"] == {"at": "/id"}
    assert dialect["key"] == ["file", "generator_model", "judge_model"]
    assert "24 valid" in out


@pytest.mark.parametrize("judges", ["x", "xy"])
@pytest.mark.parametrize("pairs", [["ab"], ["ab", "ac", "bc"]])
def test_comparisons_about_one_question_are_of_one_item(pairs, judges, tmp_path, capsys):
    rows = [
        {"question_id": f"q{n}", "model_a": a, "model_b": b, "judge": j, "winner": ["model_a", "model_b", "tie"][n % 3]}
        for n in range(6)
        for a, b in pairs
        for j in judges
    ]
    out, dialect = _proposed(lines(rows), tmp_path, capsys)
    assert dialect["comparison"]["item"] == {"at": "/question_id"}
    assert f"{len(rows)} valid" in out


def test_a_pair_asked_in_both_orders_without_saying_so_is_told_apart_by_rows(tmp_path, capsys):
    rows = [
        {"question_id": f"q{n}", "model_a": a, "model_b": b, "winner": ["model_a", "model_b", "tie"][n % 3]}
        for n in range(6)
        for a, b in ("ab", "ba")
    ]
    out, dialect = _proposed(lines(rows), tmp_path, capsys)
    assert dialect["comparison"]["item"] == {"template": "{index}"}
    assert "12 valid" in out
    assert "no field tells the rows apart" in out


def test_columns_that_are_generators_answer_one_item(tmp_path, capsys):
    rows = [{"id": n, "response-a-score": n % 5, "response-b-score": (n + 1) % 5} for n in range(8)]
    _, dialect = _proposed(lines(rows), tmp_path, capsys)
    assert dialect["fields"]["file"] == {"at": "/id"}
    assert dialect["key"] == ["file", "generator_model"]


def test_the_text_of_a_question_is_its_item_where_there_is_no_number(tmp_path, capsys):
    rows = [f"{question},{model},{score}" for question in ("why?", "how?") for model, score in (("x", 3), ("y", 4))]
    (tmp_path / "f.csv").write_text("\n".join(["question,model,score", *rows]))
    assert main(["guess", str(tmp_path / "f.csv")]) == 0
    told = capsys.readouterr().out
    assert '"file":"why?"' in told
    assert "tells the rows apart" not in told


def test_people_who_are_called_by_codes_are_judges(tmp_path, capsys):
    rows = [{"page": f"p{n}", "subject": code, "rating": n % 5} for n in range(6) for code in ("A", "B", "K")]
    assert _proposed(lines(rows), tmp_path, capsys)[1]["fields"]["judge_model"] == {"at": "/subject"}
    rows = [{"page": f"p{n}", "subject": code, "rating": n % 5} for n in range(6) for code in ("History", "Maths")]
    assert "at" not in _proposed(lines(rows), tmp_path, capsys)[1]["fields"]["judge_model"]


def test_repetitions_of_one_item_count_together(tmp_path, capsys):
    rows = [
        {"id": f"q{n}", "model": m, "repeat": r, "score": n % 4}
        for n in range(6)
        for m in ("a", "b")
        for r in (1, 2, 3)
    ]
    (tmp_path / "rows.jsonl").write_text(lines(rows))
    assert main(["guess", str(tmp_path / "rows.jsonl"), "--save", str(tmp_path / "saved")]) == 0
    assert "/repeat is taken for the number of a repetition" in capsys.readouterr().out
    made = json.loads((tmp_path / "saved" / "reading-1.dialect.json").read_text())
    assert made["fields"]["file"] == {"at": "/id"}
    assert made["key"] == ["file", "generator_model", "repeat"]
    pairs = [
        {"id": f"q{n}", "model_a": "x", "model_b": "y", "repeat": r, "winner": "model_" + "ab"[n % 2]}
        for n in range(6)
        for r in (1, 2)
    ]
    (tmp_path / "pairs.jsonl").write_text(lines(pairs))
    assert main(["guess", str(tmp_path / "pairs.jsonl"), "--save", str(tmp_path / "pairs")]) == 0
    made = json.loads((tmp_path / "pairs" / "reading-1.dialect.json").read_text())["comparison"]
    assert (made["item"], made["repeat"]) == ({"at": "/id"}, {"at": "/repeat", "number": ["plain"]})


def test_a_table_of_statistics_is_no_table_of_scores(tmp_path, capsys):
    rows = [f"Mean of {name},{value}" for name, value in (("time", 150.02), ("rate", 4.16), ("clicks", 4388.08))]
    (tmp_path / "f.csv").write_text("\n".join(["Name,Value", *rows]))
    assert main(["guess", str(tmp_path / "f.csv")]) == 1
    assert "it is a table of results" in capsys.readouterr().err


def test_a_dimension_that_does_not_apply_is_proposed_as_optional(tmp_path, capsys):
    rows = ["1,x,4,5", "2,x,3,N/A", "3,x,5,4", "4,x,2,N/A"]
    (tmp_path / "f.csv").write_text("\n".join(["id,model,fluency,relevance", *rows]))
    assert main(["guess", str(tmp_path / "f.csv")]) == 0
    told = capsys.readouterr().out
    assert "4 valid" in told
    assert "'N/A' of relevance: left out, so that the others count" in told


@pytest.mark.parametrize(
    "names",
    [("first.csv", "second.csv"), ("a/same.csv", "b/same.csv"), ("same.csv", "../same.csv"), ("a.b.csv", "a-b.csv")],
)
def test_what_is_printed_for_two_files_leads_to_a_table_of_each(tmp_path, capsys, monkeypatch, names):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    for name, scores in zip(names, ((1, 5, 3), (20, 80, 50)), strict=True):
        rows = [f"q{number},writer,{score}" for number, score in enumerate(scores)]
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text("\n".join(["item,model,score", *rows]))
        assert main(["guess", name]) == 0
        for line in capsys.readouterr().out.splitlines():
            if line.startswith("normalizer "):
                assert main(shlex.split(line)[1:]) == 0
        assert f"{sum(scores) / 3:.3f}" in capsys.readouterr().out


def test_a_packed_file_is_read_like_the_file_itself(tmp_path, capsys, monkeypatch):
    text, _, wanted = SCORES["long, JSON lines"]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file.gz").write_bytes(gzip.compress(text.encode()))
    assert main(["guess", "file.gz"]) == 0
    for line in capsys.readouterr().out.splitlines():
        if line.startswith("normalizer "):
            assert main(shlex.split(line)[1:]) == 0
    assert means([json.loads(line) for line in normalizer.open("guessed/file-gz/ledger-1").lines()]) == wanted
    (tmp_path / "cut.gz").write_bytes(gzip.compress(text.encode())[:-9])
    assert main(["guess", "cut.gz"]) == 2
    assert "damaged or cut off" in capsys.readouterr().err


def test_a_doubt_about_several_columns_is_told_once_with_their_names(tmp_path, capsys):
    rows = [f"{n},m,{'Yes' if n % 2 else 'No'},{'No' if n % 3 else 'Yes'},{'Yes' if n < 4 else 'No'}" for n in range(8)]
    (tmp_path / "f.csv").write_text("\n".join(["id,model,correct,helpful,safe", *rows]))
    assert main(["guess", str(tmp_path / "f.csv")]) == 0
    told = [line for line in capsys.readouterr().out.splitlines() if "is that meant?" in line]
    assert told == ["  doubt: No as 0, Yes as 1: is that meant? (/correct, /helpful, /safe)"]


@pytest.mark.parametrize("number", ["1e400", "1e99999999999", "-1e13", str(10**29)])
@pytest.mark.parametrize("column", ["score", "winner"])
def test_a_number_that_no_scale_has_room_for_is_no_reason_to_fail(number, column, tmp_path, capsys):
    rows = [f'{{"id":"{n}","model":"m","judge":"j","{column}":{number if n == 3 else n % 2}}}' for n in range(8)]
    (tmp_path / "f.jsonl").write_text("\n".join(rows))
    assert main(["guess", str(tmp_path / "f.jsonl")]) == 1
    assert "no field of its rows looks like a score or a verdict" in capsys.readouterr().err


def test_percentages_beside_numbers_are_doubtful(tmp_path, capsys):
    rows = [{"id": str(n), "model": "m", "judge": "j", "score": f"{n}0%" if n % 2 else n / 10} for n in range(8)]
    (tmp_path / "f.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert main(["guess", str(tmp_path / "f.jsonl")]) == 0
    assert "numbers of /score are written in several ways: percent, plain" in capsys.readouterr().out
    assert main(["aggregate", str(tmp_path / "f.jsonl")]) == 2


@pytest.mark.parametrize("count", [30, 32])
def test_columns_that_are_not_read_because_they_are_many_are_named(count, tmp_path, capsys):
    names = [f"{chr(97 + n // 26)}{chr(97 + n % 26)}_rating" for n in range(count)]
    rows = [",".join([str(n), "m", *("Yes" if (n + each) % 2 else "No" for each in range(count))]) for n in range(8)]
    (tmp_path / "f.csv").write_text("\n".join([",".join(["id", "model", *names]), *rows]))
    assert main(["guess", str(tmp_path / "f.csv")]) == 0
    told = [line for line in capsys.readouterr().out.splitlines() if "not read" in line]
    expected = "  doubt: 32 fields look like scores, and only the first 30 are read; not read: /be_rating, /bf_rating"
    assert told == [expected] * (count > 30)
