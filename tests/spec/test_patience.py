"""No test fails for being slow: all property tests are as patient as tests/conftest.py asks them to be."""

from typing import Any

import pytest

from tests.conftest import CHANCE


def test_no_property_test_has_a_deadline_or_minds_a_slow_machine(request: pytest.FixtureRequest) -> None:
    impatient = []
    for item in request.session.items:
        # Where Hypothesis keeps the settings that were given to a test.
        chosen: Any = getattr(getattr(item, "obj", None), "_hypothesis_internal_use_settings", None)
        if chosen is not None and (chosen.deadline is not None or not {*CHANCE} <= {*chosen.suppress_health_check}):
            impatient.append(item.nodeid)
    assert impatient == []
