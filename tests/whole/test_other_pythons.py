"""A ledger with everything that can be wrong is the same on another Python, and holds there.

`nox -s pythons` runs this with every other interpreter that is installed.
"""

import io
import json
import os
import struct
import subprocess
import zipfile
import zlib
from pathlib import Path

import pytest

from normalizer.cli import main
from tests.support.bundles import bundle, entry
from tests.support.patience import PATIENCE

ROOT = Path(__file__).parents[2]
OTHERS = [path for path in os.environ.get("OTHER_PYTHONS", "").split(os.pathsep) if path]
IMPORTED = {
    "contract_spec": "spec",
    "contract_models": "generated",
    "normalizer": "normalizer",
    "zeno_normalizer": "tools/packaging/scripts",
}
NOT_JSON = [
    *(b"{", b"[1,]", b'{"a":1,}', b"{'a':1}", b"nul", b"[NaN]", b"[Infinity]", b'{"a":1 "b":2}', b'"\\ud800"'),
    *(b'"\\x"', b'"abc', b'"\\u12"', b"01", b"1.", b".5", b"-", b"[1 2]", b"\xff\xfe{}", b"\xef\xbb\xbf{}"),
    *(b'{"a":"\xc3\x28"}', b"\xed\xa0\x80", b"[" * 300 + b"]" * 300, b"[" * 100_000, b"9" * 5000, b'{"a":1}{}'),
    *(b"{a:1}", b'{"a":}', b"[,]", b"\x00", b'"\t"', b'{"a":1,"a":1}', b'{"a":[1,2', "\u2028".encode()),
]
# Letters that Unicode got after the version of Python 3.11, and others whose case or printing is special.
LETTERS = [
    "\U0001fae8",
    "\U0001faef",
    "\u1c8a",
    "\ua7cb",
    "\u2ffc",
    "\U0002ebf0",
    "\u0cf3",
    "\ufffe",
    "\u200b",
    "\u0130",
]
NAMES_IN_EXTRA_FIELDS = {"another": b"\1other.json", "empty": b"\1", "no UTF-8": b"\1\xff", "unknown": b"\2other.json"}
SCORES = [b"7", b"-1", b"NaN", b"99", b'"7"', b"1e400", b"7.12345678901234567890", b"null", b"[]", b"true", b"-0"]


def archive_of(samples: int, extra: bytes = b"") -> bytes:
    """An Inspect log. `extra` is a name of the first sample in an extra field, which some versions of Python read."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("header.json", json.dumps({"eval": {"task": "t", "model": "m"}}))
        for number in range(samples):
            info = zipfile.ZipInfo(f"samples/q{number}_epoch_1.json")
            if extra and not number:
                field = extra[:1] + zlib.crc32(info.filename.encode()).to_bytes(4, "little") + extra[1:]
                info.extra = struct.pack("<HH", 0x7075, len(field)) + field
            sample = {"id": f"q{number}", "epoch": 1, "scores": {"s": {"value": "C"}}, "text": "y" * 50 * number}
            file.writestr(info, json.dumps(sample))
    return archive.getvalue()


def write_hostile_files(folder: Path) -> dict[str, list[str]]:
    """Write files that are wrong in many ways. Return the options of `normalize` for each kind of them."""
    for name in ("bundles", "rows", "cells", "archives"):
        (folder / name).mkdir()
    for number, data in enumerate(NOT_JSON):
        (folder / "bundles" / f"{number}.json").write_bytes(data)
    odd = [entry(letter) for letter in LETTERS] + [entry("x" + letter, scores={letter: 1}) for letter in LETTERS]
    (folder / "bundles" / "letters.json").write_text(json.dumps(bundle(*odd), ensure_ascii=False))
    rows = [b'{"question_id":%d,"model":"m","judge":["j","p"],"turn":1,"score":%b}' % one for one in enumerate(SCORES)]
    (folder / "rows" / "a.jsonl").write_bytes(b"\n".join([*rows, *NOT_JSON]))
    cells = [
        "7",
        '7"8',
        '"a"b',
        "\0",
        "a\rb",
        "\uff19",
        "\u0667",
        "1_000",
        "0x10",
        "NaN",
        "\u2028",
        "x" * 200_000,
        '"a',
    ]
    table = "".join(f"{number},m,{cell}\n" for number, cell in enumerate(cells))
    (folder / "cells" / "a.csv").write_text(f"question_id,model,score\n{table}", newline="")
    (folder / "cells" / "b.csv").write_bytes(b"question_id,model,score\n1,m,\xff\n2\n3,m,4,5\n")
    for name, extra in NAMES_IN_EXTRA_FIELDS.items():
        (folder / "archives" / f"{name}.eval").write_bytes(archive_of(1, extra))
    data = archive_of(4)
    for at in range(10, len(data), 61):
        (folder / "archives" / f"{at}.eval").write_bytes(data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :])
        (folder / "archives" / f"cut-{at}.eval").write_bytes(data[:at])
    stated = ["--set", "judge_model=j"]
    return {
        "bundles": [],
        "rows": ["--dialect", "mt-bench"],
        "cells": ["--dialect", "mt-bench", "--container", "csv", *stated],
        "archives": ["--dialect", "inspect", *stated],
    }


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.skipif(not OTHERS, reason="OTHER_PYTHONS names no interpreter: nox -s pythons does")
@pytest.mark.parametrize("python", OTHERS)
def test_a_hostile_ledger_is_the_same_and_holds_on_another_python(tmp_path, python):
    kinds = write_hostile_files(tmp_path)
    imported = tmp_path / "imported"
    imported.mkdir()
    for name, folder in IMPORTED.items():
        (imported / name).symlink_to(ROOT / folder)
    there = [python, "-P", "-m", "normalizer"]
    for kind, options in kinds.items():
        ours, theirs = tmp_path / f"{kind}-ours", tmp_path / f"{kind}-theirs"
        assert main(["normalize", str(tmp_path / kind), *options, "--out", str(ours)]) == 1
        for command in (
            ["audit", str(ours)],
            ["normalize", str(tmp_path / kind), *options, "--out", str(theirs)],
        ):
            environment = {**os.environ, "PYTHONPATH": str(imported)}
            done = subprocess.run([*there, *command], env=environment, capture_output=True, timeout=PATIENCE)
            assert done.returncode == int(command[0] == "normalize"), done.stderr.decode()
        assert contents(theirs) == contents(ours)
