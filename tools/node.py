"""Put the Node programs that tests and benchmarks talk to into build/node, from their lock.

Processes that ask at the same time wait for the first.
"""

import fcntl
import hashlib
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "tools" / "locks" / "node"
OUT = ROOT / "build" / "node"


def install(out: Path = OUT) -> Path:
    """The folder of commands, made if it is not there yet or made from another lock."""
    npm = shutil.which("npm")
    if npm is None:
        raise FileNotFoundError("npm is not installed: install Node 20 or newer")
    out.mkdir(parents=True, exist_ok=True)
    with open(out / "busy", "w", encoding="utf-8") as busy:
        fcntl.flock(busy, fcntl.LOCK_EX)
        digest = hashlib.sha256((LOCK / "package-lock.json").read_bytes()).hexdigest()
        stamp = out / "lock.sha256"
        if not stamp.exists() or stamp.read_text() != digest:
            for name in ("package.json", "package-lock.json"):
                shutil.copy(LOCK / name, out / name)
            flags = ["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]
            subprocess.run([npm, "ci", *flags], cwd=out, check=True, stdout=2)
            stamp.write_text(digest)
    return out / "node_modules" / ".bin"
