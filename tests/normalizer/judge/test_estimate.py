"""An estimate counts calls, bytes and tokens of the files that still need a call."""

from normalizer.judge.describe import estimate
from normalizer.judge.prepare import PreparedInput


def made(*sizes: tuple[int, bool]) -> list[PreparedInput]:
    return [PreparedInput("a" * 64, "b" * 64, size, text) for size, text in sizes]


def test_only_files_without_an_answer_are_counted():
    lines = estimate(made((400, True), (800, True), (1000, False)), [1, 2], 1, 0)
    assert lines == [
        "files: 3, 1 of them without a call to make",
        "calls: 2",
        "input: 1800 bytes in all, from 800 to 1000 a call",
        "input tokens: about 200 for 1 texts, at 4 bytes each; 1 PDFs count as the judge counts them",
    ]


def test_attempts_that_are_spent_are_not_counted_again():
    assert estimate(made((4, True)), [0], 3, 1)[1] == "calls: 1, at most 2 with 3 attempts a file"


def test_nothing_left_to_ask_has_no_input():
    assert estimate(made((4, True)), [], 1, 0) == ["files: 1, 1 of them without a call to make", "calls: 0"]
