"""A release is built twice with the same bytes, and has checksums and an SBOM."""

import hashlib
import json
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.support.lacking import lacking
from tools.packaging import versions

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def dist(tmp_path_factory):
    if not (ROOT / ".git").exists():
        lacking("needs a git checkout")
    out = tmp_path_factory.mktemp("release") / "dist"
    command = [sys.executable, "-m", "tools.release", "--check", "--out", str(out)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return out


def test_checksums_are_those_of_the_files(dist):
    listed = dict(reversed(line.split("  ")) for line in (dist / "SHA256SUMS").read_text().splitlines())
    assert {Path(name).suffix for name in listed} >= {".whl", ".gz", ".json"}
    for name, digest in listed.items():
        assert hashlib.sha256((dist / name).read_bytes()).hexdigest() == digest


def test_the_sbom_names_every_package_of_a_plain_install_with_the_hashes_of_its_archives(dist):
    document = json.loads((dist / "sbom.cdx.json").read_text())
    lock = (ROOT / "tools" / "locks" / "run.txt").read_text()
    pinned = [line.split("==")[0] for line in lock.splitlines() if line and not line.startswith((" ", "#"))]
    assert [item["name"] for item in document["components"]] == [name for name in pinned if name != "setuptools"]
    assert all(item["version"][0].isdigit() for item in document["components"])
    for item in document["components"]:
        [archives] = item["externalReferences"]
        assert archives["hashes"]
        assert all(f"sha256:{one['content']}" in lock for one in archives["hashes"])


def test_the_readme_of_the_wheel_leads_to_the_files_of_its_version(dist):
    [wheel] = dist.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        [name] = [name for name in packed.namelist() if name.endswith("/METADATA")]
        text = packed.read(name).decode()
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    number = versions.version()
    assert "(docs/guides/interfaces.md#configuration)" in readme
    assert f"/zeno-normalizer/blob/v{number}/docs/guides/interfaces.md#configuration)" in text
    assert f"/zeno-normalizer/raw/v{number}/docs/img/trace-claims.png)" in text
    links = re.findall(r"\]\(([^)\s]+)\)", text)
    assert [link for link in links if not link.startswith("https://")] == []
    assert len(links) == len(re.findall(r"\]\(([^)\s]+)\)", readme))


def test_archives_have_one_time_and_no_owner(dist):
    [archive] = dist.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        members = opened.getmembers()
    assert len({item.mtime for item in members}) == 1
    assert {(item.uid, item.gid, item.uname, item.gname) for item in members} == {(0, 0, "", "")}
    [wheel] = dist.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        assert len({item.date_time for item in packed.infolist()}) == 1


def test_the_wheel_and_the_source_archive_have_the_manual_pages(dist):
    names = {"zeno.1", "zeno-mcp.1", "normalizer.1", "eval-normalizer.1"}
    [wheel], [archive] = dist.glob("*.whl"), dist.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as packed, tarfile.open(archive) as source:
        for listed in (packed.namelist(), source.getnames()):
            assert {name.rpartition("/")[2] for name in listed if "/share/man/man1/" in name} == names
