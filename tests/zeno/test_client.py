"""The Python clients over a real server: typed results, refusals, timeouts, threads, pages."""

import asyncio
import inspect
import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import contract_spec as spec
import pytest
from contract_models.client.methods import AsyncMethods, Methods
from contract_models.client.ops.grep import GrepResult

from tests.support.interfaces import sample
from tests.support.interfaces import zeno as command
from tests.support.patience import PATIENCE
from zeno import client
from zeno.client import AsyncZeno, Gone, Refused, Zeno
from zeno.session.dispatch import OPS, load


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sample(tmp_path_factory.mktemp("tree"))


@pytest.fixture(scope="module")
def zeno(root: Path) -> Iterator[Zeno]:
    with Zeno(root) as zeno:
        yield zeno


@contextmanager
def stopped(zeno: Zeno | AsyncZeno) -> Iterator[None]:
    """A server that does nothing for a while, and a client that does not wait for long."""
    patience, zeno.timeout = zeno.timeout, 0.2
    os.kill(zeno._process.pid, signal.SIGSTOP)
    # All its threads stand still only now.
    os.waitid(os.P_PID, zeno._process.pid, os.WSTOPPED | os.WNOWAIT)
    try:
        yield
    finally:
        os.kill(zeno._process.pid, signal.SIGCONT)
        zeno.timeout = patience


@pytest.mark.parametrize("methods", [Methods, AsyncMethods])
def test_every_operation_is_a_method_with_the_arguments_of_its_schema(methods: type) -> None:
    for op in OPS:
        model, _ = load(op)
        parameters = list(inspect.signature(getattr(methods, op)).parameters)
        assert sorted(parameters[1:]) == sorted(model.model_fields)
    assert {name.removesuffix("_pages") for name in vars(methods) if name[0] != "_"} - {"call", "pages"} == OPS.keys()


def test_a_result_is_the_generated_model(zeno: Zeno) -> None:
    result = zeno.grep(pattern="def main", paths=["src"])
    assert isinstance(result, GrepResult)
    assert [(hit.path, hit.line, hit.text) for hit in result.hits] == [("src/app.py", 4, "def main():")]


def test_what_is_absent_is_none(zeno: Zeno) -> None:
    whole, cut = zeno.list_files(), zeno.list_files(max=1)
    assert (whole.cursor, whole.truncated_by, whole.hints) == (None, None, None)
    assert isinstance(cut.cursor, str)
    seen, page = list(cut.files), cut
    while page.cursor:
        page = zeno.list_files(max=1, cursor=page.cursor)
        seen += page.files
    assert seen == whole.files


def test_a_result_names_its_request_as_the_trace_does(root: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    with Zeno(root, flags=["--log", str(log)]) as zeno:
        ids = [zeno.stat(path=".").request_id, zeno.list_files().request_id]
    assert [json.loads(line)["id"] for line in log.read_text().splitlines()[1::2]] == ids


def test_text_beyond_ascii_arrives_whole(zeno: Zeno) -> None:
    assert zeno.read_file("docs/größe.txt").text == "größe"


def test_a_refusal_is_an_exception_with_its_code(zeno: Zeno) -> None:
    with pytest.raises(Refused, match="nothing is at this path") as refused:
        zeno.read_file("gone")
    assert refused.value.code == "not_found"
    # An over-long line is answered without its id, and still belongs to its call.
    with pytest.raises(Refused) as refused:
        zeno.grep("x" * (1 << 21))
    assert refused.value.code == "invalid_request"
    assert zeno.stat(path=".").items[0].is_dir


def test_threads_share_one_server(zeno: Zeno) -> None:
    def line(number: int) -> int:
        return zeno.read_file("src/deep/er/notes.txt", start_line=number).start_line

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(line, range(1, 101))) == list(range(1, 101))


def test_a_call_that_takes_too_long_is_given_up_and_the_next_one_gets_its_own_answer(root: Path) -> None:
    with Zeno(root, timeout=PATIENCE) as zeno:
        assert zeno.stat(path=".").items
        with stopped(zeno), pytest.raises(TimeoutError):
            zeno.read_file("README.md")
        assert zeno.read_file("src/app.py").path == "src/app.py"


def test_a_server_that_has_ended_is_told(root: Path) -> None:
    with Zeno(root) as zeno:
        zeno.stat(path=".")
        zeno._process.kill()
        zeno._process.wait()
        with pytest.raises(Gone):
            zeno.stat(path=".")
    with pytest.raises(Gone):
        zeno.stat(path=".")
    with Zeno(root / "gone") as zeno, pytest.raises(Gone, match="status 2"):
        zeno.stat(path=".")

    async def asked() -> None:
        async with AsyncZeno(root / "gone") as zeno:
            with pytest.raises(Gone, match="status 2"):
                await zeno.stat(path=".")

    asyncio.run(asked())


def test_a_program_with_many_files_open_can_ask(root: Path) -> None:
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    # The process of the tests has files open, too: how many depends on the tests before this one.
    most = 1200 + len(os.listdir("/dev/fd"))
    if limits[1] != resource.RLIM_INFINITY and limits[1] < most:
        pytest.skip("the system lets no process open more than 1024 files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, limits[1]))
    with ExitStack() as stack:
        stack.callback(resource.setrlimit, resource.RLIMIT_NOFILE, limits)
        for _ in range(1024):
            stack.callback(os.close, os.open(os.devnull, os.O_RDONLY))
        with Zeno(root) as zeno:
            assert zeno.read_file("src/app.py").path == "src/app.py"


def test_the_server_ends_with_the_client(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "_GRACE", PATIENCE)
    with Zeno(root) as zeno:
        zeno.stat(path=".")
    assert zeno._process.returncode == 0


def test_flags_reach_the_server(root: Path, tmp_path: Path) -> None:
    log = str(tmp_path / "trace")
    for _ in range(2):
        with Zeno(root, flags=["--log", log]) as zeno:
            zeno.stat(path=".")
            zeno.stat(path=".")
    assert Path(log).read_text().count("\n") == 10
    # Two sessions in one log, and no id twice.
    assert subprocess.run(command("trace", "lint", log), capture_output=True).returncode == 0


def test_awaited_calls_may_overlap_and_each_gets_its_own_answer(root: Path) -> None:
    async def run() -> None:
        async with AsyncZeno(root) as zeno:
            calls = [zeno.read_file("src/deep/er/notes.txt", start_line=number) for number in range(1, 101)]
            calls.append(zeno.read_file("gone"))
            *results, refused = await asyncio.gather(*calls, return_exceptions=True)
            assert [result.start_line for result in results if not isinstance(result, BaseException)] == list(
                range(1, 101)
            )
            assert isinstance(refused, Refused)
            assert refused.code == "not_found"

    asyncio.run(run())


def test_an_awaited_call_can_be_given_up(root: Path) -> None:
    async def run() -> None:
        async with AsyncZeno(root, timeout=PATIENCE) as zeno:
            await zeno.stat(path=".")
            with stopped(zeno), pytest.raises(TimeoutError):
                await zeno.read_file("README.md")
            assert (await zeno.read_file("src/app.py")).path == "src/app.py"
            zeno._process.kill()
            with pytest.raises(Gone):
                await zeno.stat(path=".")

    asyncio.run(run())


def paged() -> list[str]:
    """Operations that hand out cursors."""
    return [op for op in OPS if hasattr(Methods, f"{op}_pages")]


def test_operations_with_cursors_are_those_that_have_pages() -> None:
    for op in OPS:
        parts = spec.schema(f"zeno/ops/{op}.json")["$defs"]
        assert (op in paged()) == all("cursor" in parts[part].get("properties", {}) for part in ("args", "result"))


@pytest.mark.skipif(not paged(), reason="no operation has cursors")
def test_walking_all_pages_equals_the_uncut_result(root: Path, zeno: Zeno) -> None:
    whole = zeno.grep("e").hits
    pages = list(getattr(zeno, "grep_pages")("e", max_hits=7))  # noqa: B009 - the method is there when cursors are
    assert len(pages) > 1
    assert [hit for page in pages for hit in page.hits] == whole

    async def run() -> None:
        async with AsyncZeno(root) as other:
            found = [page async for page in getattr(other, "grep_pages")("e", max_hits=7)]  # noqa: B009 - as above
            assert [hit for page in found for hit in page.hits] == whole

    asyncio.run(run())


def test_a_large_request_after_a_large_answer_nobody_read_does_not_block(tmp_path: Path) -> None:
    (tmp_path / "big.txt").write_text("x" * 4_000_000)
    with Zeno(tmp_path, timeout=PATIENCE) as zeno:
        zeno.stat(path=".")
        with stopped(zeno), pytest.raises(TimeoutError):
            zeno.read_file("big.txt")
        with pytest.raises(Refused) as refused:
            zeno.grep("(" * 900_000, regex=True)
        assert refused.value.code == "invalid_pattern"


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_module_in_the_tree_is_not_run_when_the_tree_is_the_current_directory(
    tmp_path: Path, asynchronous: bool
) -> None:
    for name in ("argparse", "zeno", "json", "sitecustomize"):
        (tmp_path / f"{name}.py").write_text("open('ran', 'w')\n")
    ask = 'with Zeno(".") as zeno:\n    print(zeno.stat(path=".").items[0].path)'
    if asynchronous:
        ask = (
            "import asyncio\nasync def ask():\n    async with AsyncZeno('.') as zeno:\n"
            "        print((await zeno.stat(path='.')).items[0].path)\nasyncio.run(ask())"
        )
    script = tmp_path.parent / f"script-{tmp_path.name}.py"
    script.write_text(f"import os\nfrom zeno.client import AsyncZeno, Zeno\nos.chdir({str(tmp_path)!r})\n{ask}\n")
    done = subprocess.run([sys.executable, "-P", script], capture_output=True, text=True, timeout=PATIENCE)
    assert (done.stdout, (tmp_path / "ran").exists()) == (".\n", False), done.stderr
