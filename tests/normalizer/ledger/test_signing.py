"""A published ledger is signed with ssh-keygen: the recipe of docs/normalizer.md, step by step."""

import json
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
    assert keygen("-Y", "sign", "-f", str(tmp_path / "key"), "-n", "ledger", str(ledger / "commit.json")) == 0
    (ledger / "commit.json.sig").rename(tmp_path / "ledger.sig")
    return tmp_path


def verified(folder) -> bool:
    flags = ["-f", str(folder / "signers"), "-I", "lab@example.org", "-n", "ledger", "-s", str(folder / "ledger.sig")]
    return keygen("-Y", "verify", *flags, given=(folder / "ledger" / "commit.json").read_bytes()) == 0


def test_a_signed_ledger_is_verified(signed):
    assert verified(signed)
    assert main(["audit", str(signed / "ledger")]) == 0


def test_a_changed_ledger_fails_the_audit_and_one_with_new_digests_fails_the_signature(signed):
    records = signed / "ledger" / "records.jsonl"
    records.write_bytes(records.read_bytes().replace(b'"scores"', b'"scorez"', 1))
    assert verified(signed)
    assert main(["audit", str(signed / "ledger")]) == 1
    recommit(signed / "ledger")
    assert not verified(signed)
