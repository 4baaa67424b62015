"""The list of licences is that of the locks."""

from importlib.metadata import Distribution

import pytest

from tools import licences


def test_the_list_is_what_the_locks_give():
    assert licences.main(["--check"]) == 0


def test_every_locked_package_has_a_licence():
    listed = licences.listed()
    for lock in licences.NAMES:
        for pin in licences.pins(lock):
            assert listed[pin] not in ("", "not stated", "not installed here"), pin


def test_another_version_in_a_lock_is_noticed(tmp_path, monkeypatch, capsys):
    for path in licences.LOCKS.glob("*.txt"):
        (tmp_path / path.name).write_text(path.read_text())
    monkeypatch.setattr(licences, "LOCKS", tmp_path)
    assert licences.main(["--check"]) == 0
    run = tmp_path / "run.txt"
    run.write_text(run.read_text().replace("click==", "click==0"))
    assert licences.main(["--check"]) == 1
    assert "python -m tools.licences" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        ("License-Expression: MIT\nLicense: x\n", "MIT"),
        ("Classifier: License :: OSI Approved :: BSD License\nLicense: x\n", "BSD License"),
        ("License: Apache-2.0\n", "Apache-2.0"),
        ("", "MIT License"),
    ],
)
def test_a_licence_is_found_where_packages_state_it(tmp_path, metadata, said):
    folder = tmp_path / "x-1.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: x\nVersion: 1\n{metadata}")
    (folder / "LICENSE").write_text("\nMIT License\n")
    (folder / "RECORD").write_text("x-1.dist-info/LICENSE,,\n")
    assert licences.licence(Distribution.at(folder)) == said
