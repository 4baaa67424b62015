"""`nox -s realtools -- [--folder DIR] [--seconds N] [TOOL...]`: the shipped dialects on files that real tools write.

Each tool is installed into an environment of its own below the folder, by default a temporary one that is removed. The
status is 1 where a check failed. A tool that cannot be installed or does not run is named and does not change it.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.realtools.check import Checked, check
from tools.realtools.install import NotInstalled, install
from tools.realtools.tools import TOOLS, WITHOUT_A_WRITER

_WRITERS = Path(__file__).parent / "writers"


def main(argv: list[str] | None = None) -> int:
    """Run the checks and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tools", nargs="*", metavar="TOOL", help=f"of {', '.join(TOOLS)}; all of them by default")
    parser.add_argument("--folder", type=Path, help="keep environments and files here, and use environments again")
    parser.add_argument("--seconds", type=float, default=900, help="the most that one step may take")
    options = parser.parse_args(argv)
    unknown = sorted(set(options.tools) - set(TOOLS))
    if unknown:
        parser.error(f"no such tool: {unknown[0]}; there are {', '.join(TOOLS)}")
    with tempfile.TemporaryDirectory() as temporary:
        folder = (options.folder or Path(temporary)).resolve()
        return _all(folder, options.tools or list(TOOLS), options.seconds)


def _all(folder: Path, names: list[str], seconds: float) -> int:
    rows, passed = (
        [["tool", "dialect", "file", "entries = valid + invalid + unreadable", "bytes", "published mean"]],
        True,
    )
    missing = []
    for name in names:
        print(f"{name} ...", file=sys.stderr)
        try:
            version, checks = _tool(folder / name, name, seconds)
        except NotInstalled as error:
            missing.append(f"not run: {name}: {error}")
            continue
        except RuntimeError as error:
            missing.append(f"FAILED: {name}: {error}")
            passed = False
            continue
        passed = passed and all(one.passed for one in checks)
        rows += [_row(version, one) for one in checks]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    for line in missing:
        print(line)
    for dialect, why in WITHOUT_A_WRITER.items():
        print(f"no real file: {dialect}: {why}")
    return 0 if passed else 1


def _tool(folder: Path, name: str, seconds: float) -> tuple[str, list[Checked]]:
    """Install a tool, have it write files, and check them."""
    folder.mkdir(parents=True, exist_ok=True)
    python = install(folder, TOOLS[name], seconds)
    work = folder / "work"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    keep = ("PATH", "HOME", "LANG", "TMPDIR", "HTTPS_PROXY", "HTTP_PROXY")
    environment = {key: os.environ[key] for key in keep if key in os.environ}
    environment["NODE_MODULES"] = str(folder / "node_modules")
    # -I: the folder of the writers is not searched for modules.
    command = [str(python), "-I", str(_WRITERS / f"write_{name}.py")]
    with (folder / "writer.log").open("wb") as log:
        try:
            done = subprocess.run(
                command, cwd=work, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, timeout=seconds
            )
        except subprocess.TimeoutExpired:
            raise NotInstalled(f"it took longer than {seconds:g} seconds") from None
    if done.returncode:
        said = (folder / "writer.log").read_text(errors="replace").strip().splitlines()
        raise NotInstalled(f"it does not run: {said[-1][:200] if said else done.returncode}")
    told = json.loads((work / "told.json").read_text())
    checks = [check(work, one, folder / "work" / f"ledger-{number}") for number, one in enumerate(told["files"])]
    return told["tool"], checks


def _row(version: str, one: Checked) -> list[str]:
    entries, valid, invalid, unreadable = one.counts
    counted = f"{entries} = {valid} + {invalid} + {unreadable}"
    if entries != one.wrote:
        counted += f", {one.wrote} written"
    means = [f"{mean.of} {mean.theirs:.6g}" + ("" if mean.same else f", not {mean.ours}") for mean in one.means]
    return [
        version,
        one.dialect,
        one.file,
        counted,
        "restored" if one.restored else "NOT RESTORED",
        "; ".join(means) or "none",
    ]


if __name__ == "__main__":
    raise SystemExit(main())
