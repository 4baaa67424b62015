"""Random patterns over random texts: every shortcut agrees with RE2. More: nox -s fuzz -- --target index."""

import pytest

from tools import random_patterns
from zeno.index.requirements import Demand
from zeno.search.query import Plan


@pytest.mark.parametrize("seed", range(3))
def test_every_shortcut_finds_the_lines_that_re2_matches(seed: int) -> None:
    tried = 0
    for pairs, found in random_patterns.run(3000, seed):
        assert found == []
        tried += pairs
    assert tried >= 3000


def test_a_shortcut_that_loses_lines_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    made = Plan.__init__

    def demanding(self: Plan, pattern: str, *, regex: bool, case_sensitive: bool) -> None:
        made(self, pattern, regex=regex, case_sensitive=case_sensitive)
        # No text of this run has all of these rows.
        self.demand = Demand(False, tuple(range(100)))

    monkeypatch.setattr(Plan, "__init__", demanding)
    assert any(found for _, found in random_patterns.run(2000, 1))
