"""Sign the commit record of a ledger, and check a signature, with ssh-keygen of OpenSSH.

The commit record has the digests of the lines, and the lines have the hashes of raw bundles and settings, so a
signature on it covers all of them. Keys, agents, hardware tokens and certificates are those of OpenSSH; nothing of them
is read here.
"""

import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from normalizer.errors import CannotRun, UnusableLedger
from normalizer.ledger.buckets import raw_place
from normalizer.ledger.commit_record import NAME
from normalizer.ledger.commit_tree import changes
from normalizer.ledger.line_format import settings_in, sha_slice
from normalizer.ledger.reader import Ledger, reading
from normalizer.regular_files import document_bytes, open_regular, regular_bytes

NAMESPACE = "ledger"
"""The purpose (namespace) of a signature. Signatures made for another purpose are not accepted."""
STATEMENT = "statement"
"""The purpose of a signature of a statement about a table."""
_MOST_BYTES = 1 << 24
_SHOWN = 20
"""Number of differences that are reported."""


def sign(ledger: Path, key: Path) -> bytes:
    """Return a signature of a ledger's commit record, or of a statement. Raises CannotRun if a ledger was changed.

    `key` is a private key, or a public key whose private one an agent holds.
    """
    _require_file(key)
    if ledger.is_file():
        return _read_signature(
            _keygen("sign", "-f", os.fspath(key), "-n", STATEMENT, record=document_bytes(ledger)), key
        )
    with reading(ledger, checked=False) as opened:
        record = _record(ledger)
        for difference in _differences(opened):
            raise UnusableLedger(difference)
        done = _keygen("sign", "-f", os.fspath(key), "-n", NAMESPACE, record=record)
    return _read_signature(done, key)


def _read_signature(done: "subprocess.CompletedProcess[bytes]", key: Path) -> bytes:
    if done.returncode or not done.stdout.startswith(b"-----BEGIN SSH SIGNATURE-----"):
        raise CannotRun(f"ssh-keygen could not sign with {key}: {_reason(done)}")
    return done.stdout


def complaints(ledger: Path, signature: Path, signers: Path, signer: str) -> list[str]:
    """Return what is wrong with a signed ledger: its signature, or files that are not as they were signed.

    `signers` is a file in the format of ssh's allowed signers, `signer` a name in it. Raises CannotRun.
    """
    for path in (signature, signers):
        _require_file(path)
    flags = ["-f", os.fspath(signers), "-I", signer, "-s", os.fspath(signature)]
    if ledger.is_file():
        done = _keygen("verify", *flags, "-n", STATEMENT, record=document_bytes(ledger))
        return [f"{signature} is no signature of {ledger} by {signer}: {_reason(done)}"] if done.returncode else []
    with reading(ledger, checked=False) as opened:
        record = _record(ledger)
        done = _keygen("verify", *flags, "-n", NAMESPACE, record=record)
        if done.returncode:
            return [f"{signature} is no signature of {ledger / NAME} by {signer}: {_reason(done)}"]
        return list(islice(_differences(opened), _SHOWN))


def _differences(ledger: Ledger) -> Iterator[str]:
    """Yield what differs from the commit record; if its lines do not, what differs from the hashes in them."""
    yield from changes(ledger.folder) or _list_changed_files(ledger)


def _require_file(path: Path) -> None:
    """Raise CannotRun unless ssh-keygen could read this: it takes minutes for gigabytes, and keys are short."""
    if not path.is_file():
        raise CannotRun(f"cannot read {path}: there is no such file")
    if path.stat().st_size > _MOST_BYTES:
        raise CannotRun(f"{path} has more than {_MOST_BYTES} bytes: it holds no key, signature or list of signers")


def _record(ledger: Path) -> bytes:
    try:
        return regular_bytes(ledger / NAME)
    except FileNotFoundError:
        raise UnusableLedger(
            f"{ledger} has no {NAME} to sign: `normalizer repair {ledger} --out NEW` makes a ledger with one"
        ) from None
    except OSError as error:
        raise UnusableLedger(f"cannot read {ledger / NAME}: {error.strerror}") from None


def _keygen(action: str, *flags: str, record: bytes) -> "subprocess.CompletedProcess[bytes]":
    program = shutil.which("ssh-keygen")
    if program is None:
        raise CannotRun("ssh-keygen is not installed; install OpenSSH (Debian: apt-get install openssh-client)")
    return subprocess.run([program, "-Y", action, *flags], input=record, capture_output=True, check=False)


def _reason(done: "subprocess.CompletedProcess[bytes]") -> str:
    told = (done.stderr or done.stdout).decode("utf-8", "replace").strip().splitlines()
    return told[-1] if told else f"status {done.returncode}"


def _list_changed_files(ledger: Ledger) -> Iterator[str]:
    """Yield a sentence for each missing, changed or surplus file. Compare the lines with their digests first."""
    named: set[bytes] = set()
    count = 0
    for kind in ("headers", "audit"):
        for line in ledger.lines(kind):
            named.add(settings_in(kind, line))
            sha256 = line[sha_slice(kind)].decode("ascii", "replace")
            count += 1
            yield from _compare_hash(raw_place(ledger.folder, sha256), sha256)
    if (there := len(ledger.raw_bundles())) != count:
        yield f"{ledger.folder / 'bundles'} has {there} raw bundles, and the lines of the ledger name {count}"
    digests = {digest for text in named for name, digest in ledger.settings(text).items() if name != "protocol"}
    for digest in sorted(digests):
        try:
            ledger.document(digest)
        except UnusableLedger as error:
            yield str(error)


def _compare_hash(path: Path, sha256: str) -> Iterator[str]:
    try:
        with open_regular(path) as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        yield f"cannot read {path}: {error.strerror}"
    else:
        if found != sha256:
            yield f"the bytes of {path} are not those of its hash: the file was changed"
