"""Build a release, archives, checksums, SBOM and bundle: nox -s release -- [--check] [--publish] [--write].

Archives are built from a clean copy of the files that git knows and of the manual pages, with the time of the last
commit. With --check they are built twice, in two folders, and their bytes are compared; versions, owner and changelog
must agree. With --publish no placeholder may be left. Nothing is published.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tools import node  # noqa: E402 - the repository is no package of its own
from tools.packaging import versions  # noqa: E402

DIST = ROOT / "dist"


def sources() -> list[str]:
    """The files of the release: all that git tracks."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    return sorted(name for name in listed.decode().split("\0") if name and (ROOT / name).is_file())


def commit_time() -> str:
    """The time of the last commit, in seconds: what `SOURCE_DATE_EPOCH` is set to."""
    command = ["git", "log", "-1", "--format=%ct"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def build(out: Path) -> dict[str, str]:
    """Build both archives from a fresh copy of the sources; SHA-256 by file name."""
    epoch = commit_time()
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for name in sources():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, copy / name)
            (copy / name).chmod(0o755 if os.access(ROOT / name, os.X_OK) else 0o644)
            os.utime(copy / name, (int(epoch), int(epoch)))
        made = {"README.md": versions.readme_for_registries(), **manual_pages()}
        for path, text in made.items():
            (copy / path).parent.mkdir(parents=True, exist_ok=True)
            (copy / path).write_text(text, encoding="utf-8")
            os.utime(copy / path, (int(epoch), int(epoch)))
        environment = {
            **os.environ,
            "SOURCE_DATE_EPOCH": epoch,
            "PYTHONHASHSEED": "0",
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
        }
        # This environment has the locked setuptools: nothing is fetched, and two builds use one version.
        flags = ["--no-build-isolation", "--quiet", "--python", sys.executable, "--out-dir", str(out)]
        subprocess.run([sys.executable, "-m", "uv", "build", *flags, "--wheel", str(copy)], env=environment, check=True)
        subprocess.run([sys.executable, "-m", "uv", "build", *flags, "--sdist", str(copy)], env=environment, check=True)
    _settle_times(next(out.glob("*.tar.gz")), int(epoch))
    return {path.name: _sha256(path) for path in sorted(out.iterdir()) if path.suffix in {".whl", ".gz"}}


def manual_pages() -> dict[str, str]:
    """The manual pages of all commands, by their place in the sources."""
    pages = {}
    for name, other in (("zeno", "zeno-mcp"), ("normalizer", "eval-normalizer")):
        command = [sys.executable, "-m", name, "man"]
        text = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
        pages[f"share/man/man1/{name}.1"] = text
        pages[f"share/man/man1/{other}.1"] = f".so man1/{name}.1\n"
    return pages


def _settle_times(archive: Path, epoch: int) -> None:
    """Write the source archive anew with sorted members, one time, and no owner: setuptools puts the clock into it."""
    import gzip
    import io
    import tarfile

    with tarfile.open(archive) as source:
        members = [(item, source.extractfile(item).read() if item.isfile() else None) for item in source.getmembers()]  # type: ignore[union-attr]
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as target:
        for item, data in sorted(members, key=lambda one: one[0].name):
            item.mtime, item.uid, item.gid, item.uname, item.gname, item.pax_headers = epoch, 0, 0, "", "", {}
            item.mode = 0o755 if item.isdir() or item.mode & 0o100 else 0o644
            target.addfile(item, None if data is None else io.BytesIO(data))
    with open(archive, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=epoch) as compressed:
        compressed.write(packed.getvalue())


def pack_bundle(out: Path) -> None:
    """Pack the .mcpb bundle with the official tool. Its bytes are not compared: the tool puts the clock into them."""
    mcpb = str(node.install() / "mcpb")
    target = str(out / f"zeno-{versions.version()}.mcpb")
    subprocess.run([mcpb, "pack", str(ROOT / "tools" / "packaging" / "mcpb"), target], check=True, capture_output=True)


def sbom() -> dict[str, object]:
    """A CycloneDX document of what a plain install brings, from the lock: names, versions, hashes of their archives."""
    lock = (ROOT / "tools" / "locks" / "run.txt").read_text(encoding="utf-8")
    components: list[dict[str, object]] = []
    for name, pinned, rest in re.findall(r"^([\w.-]+)==([^\s;]+)(.*(?:\n +--hash=\S+.*)*)", lock, re.MULTILINE):
        if name in versions.build_packages():
            continue
        hashes = [{"alg": "SHA-256", "content": digest} for digest in re.findall(r"sha256:([0-9a-f]{64})", rest)]
        archives = {"type": "distribution", "url": f"https://pypi.org/project/{name}/{pinned}/", "hashes": hashes}
        purl = f"pkg:pypi/{name}@{pinned}"
        component = {"type": "library", "name": name, "version": pinned, "purl": purl, "bom-ref": purl}
        components.append({**component, "externalReferences": [archives]})
    own = f"pkg:pypi/zeno-normalizer@{versions.version()}"
    subject = {"type": "library", "name": "zeno-normalizer", "version": versions.version(), "purl": own, "bom-ref": own}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": {**subject, "licenses": [{"license": {"id": "MIT"}}]}},
        "components": components,
        "dependencies": [{"ref": own, "dependsOn": [str(item["bom-ref"]) for item in components]}],
    }


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def main(argv: list[str] | None = None) -> int:
    """Build into dist/; returns 1 where a check fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="build twice and compare; versions must agree")
    parser.add_argument("--publish", action="store_true", help="fail where a placeholder or an undated change is left")
    parser.add_argument("--write", action="store_true", help="first put version and owner of pyproject.toml everywhere")
    parser.add_argument("--out", type=Path, default=DIST, help="folder to build into (default: dist)")
    options = parser.parse_args(argv)
    if options.write:
        versions.write()
    problems = versions.problems(publish=options.publish) if options.check or options.publish else []
    shutil.rmtree(options.out, ignore_errors=True)
    options.out.mkdir(parents=True)
    made = build(options.out)
    if options.check:
        with tempfile.TemporaryDirectory() as second:
            again = build(Path(second))
        problems += [f"{name} differs between two builds" for name in made if made[name] != again.get(name)]
    if shutil.which("npm"):
        pack_bundle(options.out)
    (options.out / "sbom.cdx.json").write_text(json.dumps(sbom(), indent=2) + "\n", encoding="utf-8")
    sums = [f"{_sha256(path)}  {path.name}\n" for path in sorted(options.out.iterdir()) if path.name != ".gitignore"]
    (options.out / "SHA256SUMS").write_text("".join(sums), encoding="ascii")
    print("".join(sums), end="")
    for problem in problems:
        print(f"release: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    raise SystemExit(main())
