"""The menu: plain `nox` runs every gate, the rest runs on request. All happens in `.venv`, made by tools/dev.py."""

import os
import shutil
import sys
from pathlib import Path

import nox

sys.path.insert(0, str(Path(__file__).parent / "tools"))
import dev

nox.options.default_venv_backend = "none"
nox.options.sessions = ["drift", "lint", "types", "tests", "conformance", "portable_core"]

# Tests that tell most about a system without inotify, openat2 and fork. `portable` runs all, as long as `tests`.
PORTABLE_CORE = (
    "tests/conformance/test_vectors.py",
    "tests/zeno/cache/test_freshness.py",
    "tests/zeno/confinement",
    "tests/zeno/session",
)


def _run(session: nox.Session, *command: str) -> None:
    dev.setup_dev()
    session.run(str(dev.PYTHON), *command, external=True)


@nox.session
def drift(session: nox.Session) -> None:
    """Fail when something made from spec/ is not what it makes, or locks or licences are not in order."""
    _run(session, "-m", "tools.generate", "--check")
    _run(session, "-m", "tools.openapi", "--check")
    _run(session, "-m", "tools.reference", "--check")
    _run(session, "-m", "tools.pins")
    _run(session, "-m", "tools.licences", "--check")


@nox.session
def lint(session: nox.Session) -> None:
    """Check format and lint rules."""
    _run(session, "-m", "ruff", "format", "--check", ".")
    _run(session, "-m", "ruff", "check", ".")


@nox.session
def types(session: nox.Session) -> None:
    """Check types, strictly. The renamed folders are shown to mypy under their import names."""
    links = Path("build/typing")
    links.mkdir(parents=True, exist_ok=True)
    for name, folder in {
        "contract_models": "generated",
        "contract_spec": "spec",
        "zeno_normalizer": "tools/packaging/scripts",
    }.items():
        if not (links / name).exists():
            (links / name).symlink_to(Path(folder).resolve(), target_is_directory=True)
    _run(session, "-m", "mypy")
    _run(session, "-m", "mypy", "-p", "contract_spec")


@nox.session
def tests(session: nox.Session) -> None:
    """Run the test suite on all cores; arguments go to pytest."""
    _run(session, "-m", "pytest", "-n", "auto", "--dist", "loadgroup", *session.posargs)


@nox.session
def quick(session: nox.Session) -> None:
    """Check in under a minute what an edit breaks most: lint, drift, rooms, vectors in process; arguments are tests."""
    _run(session, "-m", "ruff", "format", "--check", ".")
    _run(session, "-m", "ruff", "check", ".")
    _run(session, "-m", "tools.generate", "--check")
    rooms = [f"tests/spec/test_{name}.py" for name in ("layout", "mirror", "root_boundary", "plain_words", "schemas")]
    vectors = "tests/conformance/test_vectors.py::test_our_server_agrees_in_this_process"
    _run(session, "-m", "pytest", "-q", "-n", "auto", *rooms, vectors, *session.posargs)


@nox.session
def conformance(session: nox.Session) -> None:
    """Run the vectors against a server command: nox -s conformance -- --server 'CMD --root {root}'."""
    _run(session, "-m", "tools.conformance", *session.posargs)


@nox.session
def random(session: nox.Session) -> None:
    """Compare 20,000 random requests with a model (--count, --seed, --server)."""
    _run(session, "-m", "tools.random_requests", *session.posargs)


@nox.session
def generate(session: nox.Session) -> None:
    """Remake what is made from spec/: generated/, the OpenAPI document, the skill's list, the page of codes."""
    _run(session, "-m", "tools.generate")
    _run(session, "-m", "tools.openapi")
    _run(session, "-m", "tools.reference")


@nox.session
def fmt(session: nox.Session) -> None:
    """Format, and fix what ruff can fix."""
    _run(session, "-m", "ruff", "format", ".")
    _run(session, "-m", "ruff", "check", "--fix", ".")


@nox.session
def lock(session: nox.Session) -> None:
    """Pin all dependencies anew, with hashes and without naming a host."""
    compile_ = ["-m", "uv", "pip", "compile", "pyproject.toml", "--universal", "--generate-hashes", "--quiet"]
    compile_ += ["--python-version", "3.11", "--no-header", "--no-annotate", "--no-emit-index-url"]
    build = ["--group", "build"]
    _run(session, *compile_, *build, "-o", "tools/locks/run.txt")
    demo = ["--extra", "mcp", "--extra", "report"]
    _run(session, *compile_, *build, *demo, "-c", "tools/locks/run.txt", "-o", "tools/locks/demo.txt")
    dev_ = ["--group", "dev", "--extra", "all", "--extra", "export", "--extra", "zstd"]
    _run(session, *compile_, *build, *dev_, "-o", "tools/locks/dev.txt")
    _run(session, *compile_, *build, "--extra", "spark", "-c", "tools/locks/dev.txt", "-o", "tools/locks/spark.txt")


@nox.session
def build(session: nox.Session) -> None:
    """Build the wheel and the source archive into dist/."""
    _run(session, "-m", "uv", "build")


@nox.session
def docs(session: nox.Session) -> None:
    """Build the documentation as a site into build/site."""
    _run(session, "-m", "tools.site", *session.posargs)


@nox.session
def pictures(session: nox.Session) -> None:
    """Make the pictures of the docs anew, with a real browser."""
    _run(session, "-m", "tools.pictures", *session.posargs)


@nox.session
def release(session: nox.Session) -> None:
    """Build wheel, source archive, SBOM, checksums into dist/; with -- --check twice, and compare."""
    _run(session, "-m", "tools.release", *session.posargs)


@nox.session
def portable(session: nox.Session) -> None:
    """Run all tests as on a system without inotify, openat2 and fork; arguments go to pytest."""
    _run_without_system_features(session, *session.posargs)


@nox.session
def portable_core(session: nox.Session) -> None:
    """Run vectors, freshness, confinement and sessions as on such a system."""
    _run_without_system_features(session, *PORTABLE_CORE)


def _run_without_system_features(session: nox.Session, *arguments: str) -> None:
    session.env["ZENO_WITHOUT"] = "inotify,openat2,fork"
    _run(session, "-m", "pytest", "-n", "auto", "--dist", "loadgroup", *arguments)


@nox.session
def pythons(session: nox.Session) -> None:
    """Make a hostile ledger here and audit it on every other Python that is installed, 3.12 or newer."""
    others = []
    for name in ("python3.12", "python3.13", "python3.14"):
        if found := shutil.which(name):
            folder = Path("build/pythons", name).resolve()
            session.run(found, "-m", "venv", str(folder), external=True)
            python = str(folder / "bin" / "python")
            install = ["-m", "pip", "install", "-q", "--require-hashes", "-r", "tools/locks/run.txt"]
            session.run(python, *install, external=True)
            others.append(python)
    session.env["OTHER_PYTHONS"] = os.pathsep.join(others)
    _run(session, "-m", "pytest", "tests/whole/test_other_pythons.py", *session.posargs)


@nox.session
def bench(session: nox.Session) -> None:
    """Race against ripgrep and bare servers, side by side: nox -s bench -- --help."""
    _run(session, "-m", "tools.bench.run", *session.posargs)


@nox.session
def fuzz(session: nox.Session) -> None:
    """Feed parsers and matchers made-up bytes and check their promises: nox -s fuzz -- --minutes N [--target NAME]."""
    _run(session, "-m", "tools.fuzz.run", *session.posargs)


@nox.session
def soak(session: nox.Session) -> None:
    """Keep servers under edits, requests and faults, and compare and measure them: nox -s soak -- --minutes N."""
    _run(session, "-m", "tools.soak.run", *session.posargs)


@nox.session
def scoreboard(session: nox.Session) -> None:
    """Ask public questions and bug reports, beside other tools: nox -s scoreboard -- --data DIR."""
    _run(session, "-m", "tools.scoreboard.run", *session.posargs)


@nox.session
def interval_coverage(session: nox.Session) -> None:
    """Simulate how often intervals hold the truth: nox -s interval_coverage -- --runs 1000 [--only TEXT]."""
    _run(session, "-m", "tools.interval_coverage", *session.posargs)
