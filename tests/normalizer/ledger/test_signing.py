"""A published ledger is signed: the recipe of docs/reference/normalizer.md, step by step, with the real ssh-keygen."""

import errno
import json
import os
import subprocess

import pytest

from normalizer.cli import main
from tests.support.bundles import bundle, entry
from tests.support.lacking import needs
from tests.support.ledgers import recommit

pytestmark = needs("ssh-keygen", "openssh-client")


def keygen(*argv: str, given: bytes = b"") -> int:
    return subprocess.run(["ssh-keygen", *argv], input=given, capture_output=True, check=False).returncode


@pytest.fixture
def signed(tmp_path):
    """A ledger, its signature beside it, and the list of signers."""
    (tmp_path / "b.json").write_text(json.dumps(bundle(entry("a"), entry("b"))))
    ledger = tmp_path / "ledger"
    assert main(["normalize", str(tmp_path / "b.json"), "--out", str(ledger)]) == 0
    assert keygen("-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / "key")) == 0
    (tmp_path / "signers").write_text("lab@example.org " + (tmp_path / "key.pub").read_text())
    assert main(["sign", str(ledger), "--key", str(tmp_path / "key")]) == 0
    return tmp_path


def verify(folder, signer="lab@example.org") -> int:
    flags = ["--signature", str(folder / "ledger.sig"), "--signers", str(folder / "signers"), "--signer", signer]
    return main(["audit", str(folder / "ledger"), *flags])


def test_a_signed_ledger_is_verified_by_us_and_by_ssh_keygen_alone(signed, capsys):
    assert verify(signed) == 0
    assert "signed by lab@example.org" in capsys.readouterr().out
    flags = ["-f", str(signed / "signers"), "-I", "lab@example.org", "-n", "ledger", "-s", str(signed / "ledger.sig")]
    assert keygen("-Y", "verify", *flags, given=(signed / "ledger" / "commit.json").read_bytes()) == 0
    assert main(["audit", str(signed / "ledger")]) == 0


def test_signing_changes_nothing_in_the_ledger(signed):
    assert not list((signed / "ledger").glob("*.sig"))


def test_changed_files_are_told_and_so_are_new_digests(signed, capsys):
    records = signed / "ledger" / "records.jsonl"
    records.write_bytes(records.read_bytes().replace(b'"scores"', b'"scorez"', 1))
    assert verify(signed) == 1
    assert "records.jsonl was changed" in capsys.readouterr().out
    assert main(["sign", str(signed / "ledger"), "--key", str(signed / "key")]) == 2
    recommit(signed / "ledger")
    assert verify(signed) == 1
    assert "no signature of" in capsys.readouterr().out


def test_another_signer_another_key_and_another_purpose_are_refused(signed):
    assert verify(signed, "somebody@example.org") == 1
    assert keygen("-q", "-t", "ed25519", "-N", "", "-f", str(signed / "other")) == 0
    commit = signed / "ledger" / "commit.json"
    for key, purpose in (("other", "ledger"), ("key", "file")):
        (signed / "ledger.sig").unlink()
        assert keygen("-Y", "sign", "-f", str(signed / key), "-n", purpose, str(commit)) == 0
        commit.with_suffix(".json.sig").rename(signed / "ledger.sig")
        assert verify(signed) == 1


def test_it_says_why_it_cannot_sign_or_verify(signed, tmp_path, capsys, monkeypatch):
    assert main(["sign", str(tmp_path / "nothing"), "--key", str(signed / "key")]) == 2
    (signed / "no key").write_text("not a key")
    assert main(["sign", str(signed / "ledger"), "--key", str(signed / "no key")]) == 2
    (signed / "ledger.sig").unlink()
    assert verify(signed) == 2
    monkeypatch.setenv("PATH", "")
    assert main(["sign", str(signed / "ledger"), "--key", str(signed / "key")]) == 2
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 4
    assert "is not a ledger" in said[0]
    assert "could not sign" in said[1]
    assert "no such file" in said[2]
    assert "ssh-keygen is not installed" in said[3]


def test_changed_missing_and_added_raw_bundles_and_settings_are_told(signed, capsys):
    ledger = signed / "ledger"
    for folder in ("bundles", "settings"):
        (kept,) = (ledger / folder).rglob("*.json")
        whole = kept.read_bytes()
        kept.write_bytes(whole.replace(b"A_structure", b"a_structure", 1))
        assert verify(signed) == 1
        assert f"{kept} are not those of its hash" in capsys.readouterr().out
        assert main(["sign", str(ledger), "--key", str(signed / "key")]) == 2
        kept.unlink()
        assert verify(signed) == 1
        assert str(kept) in capsys.readouterr().out
        kept.write_bytes(whole)
    assert verify(signed) == 0
    added = ledger / "bundles" / "00" / ("0" * 64 + ".json")
    added.parent.mkdir(exist_ok=True)
    added.write_text("{}")
    assert verify(signed) == 1
    assert "2 raw bundles" in capsys.readouterr().out


def test_a_missing_file_of_lines_is_told(signed, capsys):
    (signed / "ledger" / "invalid.jsonl").unlink()
    capsys.readouterr()
    assert verify(signed) == 1
    assert "invalid.jsonl" in capsys.readouterr().out


def test_the_folder_one_stands_in_is_signed_beside_itself(signed, monkeypatch, capsys):
    (signed / "ledger.sig").unlink()
    monkeypatch.chdir(signed / "ledger")
    assert main(["sign", ".", "--key", str(signed / "key")]) == 0
    assert not list((signed / "ledger").glob("*.sig"))
    assert verify(signed) == 0


def test_a_signature_is_not_written_into_the_ledger(signed, capsys):
    inside = signed / "ledger" / "mine.sig"
    assert main(["sign", str(signed / "ledger"), "--key", str(signed / "key"), "--out", str(inside)]) == 2
    assert not inside.exists()


def test_a_signature_that_cannot_be_written_leaves_the_old_one(signed, monkeypatch, capsys):
    before = {path: path.read_bytes() for path in signed.iterdir() if path.is_file()}

    def full(_descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert main(["sign", str(signed / "ledger"), "--key", str(signed / "key")]) == 2
    assert "ledger.sig: No space left on device" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in signed.iterdir() if path.is_file()} == before


def test_a_signature_goes_through_a_link_and_into_a_device(signed, capsys):
    (signed / "elsewhere").mkdir()
    (signed / "link.sig").symlink_to(signed / "elsewhere" / "real.sig")
    sign = ["sign", str(signed / "ledger"), "--key", str(signed / "key"), "--out"]
    assert main([*sign, str(signed / "link.sig")]) == 0
    assert (signed / "link.sig").is_symlink()
    assert (signed / "elsewhere" / "real.sig").read_bytes() == (signed / "ledger.sig").read_bytes()
    assert main([*sign, os.devnull]) == 0
    assert not os.path.isfile(os.devnull)


@pytest.mark.parametrize("flag", ["--key", "--signature", "--signers"])
def test_a_file_that_is_too_large_for_a_key_is_not_given_to_ssh_keygen(signed, capsys, flag):
    with (signed / "large").open("wb") as file:
        file.truncate(20 << 30)
    given = {"--signature": "ledger.sig", "--signers": "signers", flag: "large"}
    flags = [part for name, file in given.items() for part in (name, str(signed / file))]
    if flag == "--key":
        assert main(["sign", str(signed / "ledger"), "--key", str(signed / "large")]) == 2
    else:
        assert main(["audit", str(signed / "ledger"), *flags, "--signer", "lab@example.org"]) == 2
    assert "large has more than" in capsys.readouterr().err


def test_a_statement_about_a_table_is_signed_and_checked_too(signed, capsys):
    (signed / "statement.json").write_text("{}\n")
    assert main(["sign", str(signed / "statement.json"), "--key", str(signed / "key")]) == 0
    flags = ["--signature", str(signed / "statement.json.sig"), "--signers", str(signed / "signers")]
    checked = ["audit", str(signed / "statement.json"), *flags, "--signer", "lab@example.org"]
    assert main(checked) == 0
    assert "signed by lab@example.org" in capsys.readouterr().out
    (signed / "statement.json").write_text("{ }\n")
    assert main(checked) == 1
    assert "no signature of" in capsys.readouterr().out
