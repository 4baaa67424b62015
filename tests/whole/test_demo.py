"""What a newcomer sees first is true: the demo asks every operation."""

import re

from tools import demo
from zeno.session.dispatch import OPS


def test_the_demo_asks_every_operation_and_ends_well(capsys):
    assert demo.main() == 0
    assert set(re.findall(r'^> .*?"op": "(\w+)"', capsys.readouterr().out, re.MULTILINE)) == OPS.keys()
