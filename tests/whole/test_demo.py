"""What a newcomer sees first is true: the demo asks everything, and the README shows what a server answers."""

import re
import subprocess
from pathlib import Path

from tests.support.doors import zeno
from tools import demo
from zeno.session.dispatch import OPS

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def test_the_demo_asks_every_operation_and_ends_well(capsys):
    assert demo.main() == 0
    assert set(re.findall(r'^> .*?"op": "(\w+)"', capsys.readouterr().out, re.MULTILINE)) == OPS.keys()


def test_the_readme_shows_what_the_server_answers(tmp_path):
    demo.plant(tmp_path)
    shown = re.findall(r"^> (.*)\n< (.*)\n", README, re.MULTILINE)
    assert len(shown) == 2
    asked = "".join(f"{request}\n" for request, _ in shown)
    done = subprocess.run(zeno("serve", "--root", tmp_path), input=asked, capture_output=True, text=True)
    for (_, told), answer in zip(shown, done.stdout.splitlines(), strict=True):
        assert re.fullmatch(".*".join(map(re.escape, told.split("..."))), answer)
