"""Random requests over random trees, each answer compared with the model. 20,000 at a time: nox -s random."""

import shlex
import sys
from collections import Counter

import pytest

from tests.support.patience import PATIENCE
from tests.support.request_model import arguments
from tools import random_requests
from tools.kit.chance import Dice, corpus, request
from tools.kit.peer import OUR_SERVER
from tools.kit.vectors import HOME


@pytest.mark.parametrize("seed", range(3))
def test_the_server_answers_as_the_model_does(seed: int) -> None:
    seen: Counter[str] = Counter()
    for _, verdict, found, again in random_requests.run(100, seed, OUR_SERVER, PATIENCE):
        assert found == [], again
        seen[verdict] += 1
    assert seen.total() == 100
    assert seen["result"] > 30
    assert len(seen) > 3  # refusals of several kinds


def test_chance_follows_from_the_seed() -> None:
    dice = [Dice(f"{seed}") for seed in (7, 7, 8)]
    trees = [corpus(each) for each in dice]
    assert trees[0] == trees[1] != trees[2]
    requests = [request(each, ["a", "b"], arguments()) for each in dice[:2]]
    assert requests[0] == requests[1]


def test_a_wrong_server_is_seen(capsys: pytest.CaptureFixture[str]) -> None:
    command = f"{shlex.join([sys.executable, str(HOME / 'wrong_server.py')])} {{root}} wrong"
    assert random_requests.main(["--count", "10", "--server", command]) == 1
    assert "differs: [" in capsys.readouterr().out
