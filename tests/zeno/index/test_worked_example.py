"""The worked example in the index's docstring is true."""

import doctest

import zeno.index


def test_the_worked_example_of_a_pattern_is_true():
    result = doctest.testmod(zeno.index)
    assert result.attempted > 8
    assert result.failed == 0
