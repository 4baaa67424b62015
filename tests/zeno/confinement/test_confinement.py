"""Self-confinement, proved from inside: code in the server's own process tries what the server never would."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.interfaces import http_process, zeno
from tests.support.lacking import lacking
from tests.support.patience import PATIENCE
from zeno.confinement import landlock, seccomp, system_calls
from zeno.index import signatures

# Python runs a module of this name at its start. On a signal it tries to get out, and tells on stderr how that went.
INTRUDER = """
import ctypes, errno, fcntl, json, os, resource, signal, socket, struct, subprocess, sys, termios
libc = ctypes.CDLL(None, use_errno=True)
NUMBERS = json.loads(os.environ["NUMBERS"])
# A terminal of its own, as a server has that a person started.
try:
    os.setsid()
except PermissionError:
    pass
terminal = os.openpty()
fcntl.ioctl(terminal[1], termios.TIOCSCTTY, 0)
def system_call(name, *arguments):
    wide = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    wide += [ctypes.c_long(0)] * (6 - len(wide))
    result = libc.syscall(ctypes.c_long(NUMBERS[name]), *wide)
    if result < 0:
        raise OSError(ctypes.get_errno(), name)
    return result
def share_memory():
    shared = system_call("shmget", 0, 4096, 0o600)
    system_call("shmctl", shared, 0)
def share_a_queue():
    system_call("msgctl", system_call("msgget", 0, 0o600), 0)
def share_a_semaphore():
    system_call("semctl", system_call("semget", 0, 1, 0o600), 0, 0)
def name_a_queue():
    system_call("mq_open", b"zeno-test", os.O_CREAT | os.O_RDWR, 0o600)
    system_call("mq_unlink", b"zeno-test")
def refuses_each():
    # Calls that need a privilege or a partner: which of them are not refused by name, whatever they are given?
    tried = ("add_key", "request_key", "bpf", "perf_event_open", "userfaultfd", "ptrace", "process_vm_readv")
    tried += ("process_vm_writev", "kcmp", "pidfd_getfd", "pidfd_send_signal", "sched_setattr", "sched_setscheduler")
    tried += ("sched_setparam", "migrate_pages", "move_pages", "name_to_handle_at", "open_by_handle_at", "setns")
    tried += ("io_uring_setup", "fanotify_init", "unshare", "process_madvise", "swapoff", "finit_module")
    tried += ("mount", "umount2", "pivot_root", "move_mount", "open_tree", "fsopen", "mount_setattr")
    return [name for name in tried if attempt(lambda: system_call(name, *[-1] * 6)) != "PermissionError"]
def attempt(action):
    try:
        action()
        return "possible"
    except OSError as error:
        # The kernel may lack MPTCP, TIOCSTI and message queues, and a file system extended attributes. A copy of the
        # file may lack the attribute.
        lacking = (errno.EPROTONOSUPPORT, errno.ENOTSUP, errno.ENODATA, errno.EIO, errno.ENOSYS, errno.ENOTTY)
        return "possible" if error.errno in lacking else type(error).__name__
def connect(protocol, port):
    socket.socket(socket.AF_INET, socket.SOCK_STREAM, protocol).connect(("127.0.0.1", port))
def send_at_once(port):
    socket.socket().sendto(b"secret", socket.MSG_FASTOPEN, ("127.0.0.1", port))
# The socket that an HTTP server listens on can be made one like these, by `shutdown`.
held = [socket.socket() for _ in range(3)]
def in_a_copy(action):
    process = os.fork()
    if process == 0:
        os._exit(0 if attempt(action) == "possible" else 1)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
def tried(*_):
    outside, root, port = os.environ["OUTSIDE"], os.environ["ROOT"], int(os.environ["PORT"])
    secret = outside + "/secret"
    run = lambda *command: subprocess.run([*command], check=False, capture_output=True)
    child = "import sys; sys.exit(7 if sys.argv[1] else 0)"
    told = {
        "read inside": attempt(lambda: open(root + "/a.txt").read()),
        "list inside": attempt(lambda: os.listdir(root)),
        "read outside": attempt(lambda: open(secret).read()),
        "list outside": attempt(lambda: os.listdir(outside)),
        "list where it was started": attempt(lambda: os.listdir(".")),
        "write outside": attempt(lambda: open(outside + "/new", "w")),
        "write inside": attempt(lambda: open(root + "/a.txt", "a")),
        "make inside": attempt(lambda: os.mkdir(root + "/new")),
        "remove inside": attempt(lambda: os.unlink(root + "/c.txt")),
        "cut inside": attempt(lambda: os.truncate(root + "/a.txt", 0)),
        "rename inside": attempt(lambda: os.rename(root + "/a.txt", root + "/b.txt")),
        "run a program": attempt(lambda: run("/bin/true")),
        "signal the parent": attempt(lambda: os.kill(os.getppid(), 0)),
        "connect": attempt(lambda: socket.create_connection(("127.0.0.1", port)).close()),
        "listen": attempt(lambda: socket.create_server(("127.0.0.1", 0)).close()),
        # Landlock alone allows all of these.
        "connect by MPTCP": attempt(lambda: connect(262, port)),
        "connect by TCP Fast Open": attempt(lambda: send_at_once(port)),
        "connect a socket from before": attempt(lambda: held[0].connect(("127.0.0.1", port))),
        "send by a socket from before": attempt(
            lambda: held[1].sendto(b"secret", socket.MSG_FASTOPEN, ("127.0.0.1", port))
        ),
        "send a message by a socket from before": attempt(
            lambda: held[2].sendmsg([b"secret"], [], socket.MSG_FASTOPEN, ("127.0.0.1", port))
        ),
        "make a pair of datagram sockets": attempt(lambda: socket.socketpair(type=socket.SOCK_DGRAM)),
        "listen on a port of the kernel's choice": attempt(lambda: socket.socket().listen()),
        "send by UDP": attempt(lambda: socket.socket(type=socket.SOCK_DGRAM).sendto(b"", ("127.0.0.1", port))),
        "make a Unix socket": attempt(lambda: socket.socket(socket.AF_UNIX)),
        "change rights inside": attempt(lambda: os.chmod(root, 0o755)),
        "change rights outside": attempt(lambda: os.chmod(secret, 0o644)),
        "change rights of an open folder": attempt(lambda: os.fchmod(os.open(root, os.O_RDONLY), 0o755)),
        "change the owner outside": attempt(lambda: os.chown(secret, -1, -1)),
        "change times outside": attempt(lambda: os.utime(secret)),
        "change attributes outside": attempt(lambda: os.removexattr(secret, "user.none")),
        "read attributes outside": attempt(lambda: os.getxattr(secret, "user.none")),
        "list attributes outside": attempt(lambda: os.listxattr(secret)),
        "type into the terminal": attempt(lambda: fcntl.ioctl(terminal[1], termios.TIOCSTI, b"x")),
        "set flags of a folder inside": attempt(
            lambda: fcntl.ioctl(os.open(root, os.O_RDONLY), 0x40086602, bytes(8))
        ),
        "share memory": attempt(share_memory),
        "share a queue": attempt(share_a_queue),
        "share a semaphore": attempt(share_a_semaphore),
        "name a queue": attempt(name_a_queue),
        "look at the keys of the user": attempt(lambda: system_call("keyctl", 0, -4, 0)),
        "set limits of the parent": attempt(
            lambda: resource.prlimit(os.getppid(), resource.RLIMIT_CORE, resource.getrlimit(resource.RLIMIT_CORE))
        ),
        "set priority of the parent": attempt(
            lambda: os.setpriority(os.PRIO_PROCESS, os.getppid(), os.getpriority(os.PRIO_PROCESS, os.getppid()))
        ),
        "set priority of all its processes": attempt(lambda: os.setpriority(os.PRIO_PGRP, 0, 5)),
        "set processors of the parent": attempt(
            lambda: os.sched_setaffinity(os.getppid(), os.sched_getaffinity(os.getppid()))
        ),
        "set input and output priority of the parent": attempt(
            lambda: system_call("ioprio_set", 1, os.getppid(), 2 << 13 | 4)
        ),
        "set its own limits": attempt(lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0))),
        "set its own priority": in_a_copy(lambda: os.nice(1)),
        "ask its terminal": attempt(lambda: os.get_terminal_size(terminal[1])),
        "not refused": refuses_each(),
        "copy lists its descriptors": in_a_copy(lambda: os.listdir("/dev/fd")),
        "copy reads outside": in_a_copy(lambda: open(secret).read()),
        "helper reads outside": run(sys.executable, "-I", "-c", "open(%r)" % secret).returncode,
        "helper computes": subprocess.run(
            [sys.executable, "-I", os.environ["HELPER"]], input=bytes(4), check=False, capture_output=True
        ).returncode,
    }
    os.write(2, json.dumps(told).encode() + b"\\n")
signal.signal(signal.SIGUSR1, tried)
"""

COLUMN = 0 if os.uname().machine == "x86_64" else 1


def abi() -> int:
    try:
        return landlock.version()
    except landlock.NotPossible:
        return 0


@pytest.fixture
def kernel():
    """The Landlock version of this kernel."""
    if not abi() or not seccomp.possible():
        lacking("needs a kernel with Landlock and seccomp, on x86-64, ARM64 or RISC-V")
    return abi()


@pytest.fixture
def intruder(root, tmp_path):
    """The environment of a server that has hostile code in it, and a listening socket that it should not reach."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("secret\n")
    (root / "a.txt").write_text("alpha\n")
    (root / "c.txt").write_text("gamma\n")
    code = tmp_path / "code"
    code.mkdir()
    (code / "sitecustomize.py").write_text(INTRUDER)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield {
            **os.environ,
            "PYTHONPATH": str(code),
            "OUTSIDE": str(outside),
            "ROOT": str(root),
            "PORT": str(listening.getsockname()[1]),
            "HELPER": signatures.__file__,
            "NUMBERS": json.dumps({name: numbers[COLUMN] for name, numbers in system_calls.REFUSED.items()}),
        }


def confined(kernel: int) -> dict[str, object]:
    """What the intruder tells where the kernel enforces all it can."""
    return {
        "read inside": "possible",
        "list inside": "possible",
        **dict.fromkeys(("read outside", "list outside", "list where it was started"), "PermissionError"),
        **dict.fromkeys(("write outside", "write inside", "make inside", "remove inside"), "PermissionError"),
        "rename inside": "PermissionError",
        "cut inside": "PermissionError" if kernel >= 3 else "possible",
        "run a program": "PermissionError",
        "signal the parent": "PermissionError" if kernel >= 6 else "possible",
        **dict.fromkeys(("connect", "connect by MPTCP", "connect by TCP Fast Open", "send by UDP"), "PermissionError"),
        **dict.fromkeys(("listen", "listen on a port of the kernel's choice"), "PermissionError"),
        **dict.fromkeys(("connect a socket from before", "send by a socket from before"), "PermissionError"),
        "send a message by a socket from before": "PermissionError",
        **dict.fromkeys(("make a Unix socket", "make a pair of datagram sockets"), "PermissionError"),
        **dict.fromkeys(("change rights inside", "change rights outside"), "PermissionError"),
        "change rights of an open folder": "PermissionError",
        **dict.fromkeys(("change the owner outside", "change times outside"), "PermissionError"),
        **dict.fromkeys(
            ("change attributes outside", "read attributes outside", "list attributes outside"), "PermissionError"
        ),
        **dict.fromkeys(("type into the terminal", "set flags of a folder inside"), "PermissionError"),
        **dict.fromkeys(("share memory", "share a queue", "share a semaphore", "name a queue"), "PermissionError"),
        **dict.fromkeys(("look at the keys of the user", "set limits of the parent"), "PermissionError"),
        **dict.fromkeys(("set priority of the parent", "set priority of all its processes"), "PermissionError"),
        "set processors of the parent": "PermissionError",
        "set input and output priority of the parent": "PermissionError",
        "set its own limits": "possible",
        "set its own priority": 0,
        "ask its terminal": "possible",
        "not refused": [],
        "copy lists its descriptors": 0,
        "copy reads outside": 1,
        "helper reads outside": 1,
        "helper computes": 0,
    }


def started(command: list[str], environment: dict[str, str]) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def what_it_can_do(process: "subprocess.Popen[bytes]") -> dict[str, object]:
    process.send_signal(signal.SIGUSR1)
    assert process.stderr is not None
    told: dict[str, object] = json.loads(process.stderr.readline())
    return told


def ask(process: "subprocess.Popen[bytes]", message: dict[str, object]) -> dict[str, Any]:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(message).encode() + b"\n")
    process.stdin.flush()
    answer: dict[str, Any] = json.loads(process.stdout.readline())
    return answer


@pytest.mark.parametrize("cache", [[], ["--no-cache"]])
def test_code_inside_serve_cannot_get_out(kernel, root, tmp_path, intruder, cache):
    command = zeno("serve", "--root", root, "--log", tmp_path / "log", "--confine", "require", *cache)
    with started(command, intruder) as process:
        assert ask(process, {"id": "1", "op": "read_file", "args": {"path": "a.txt"}})["ok"]
        assert ask(process, {"id": "2", "op": "grep", "args": {"pattern": "alpha"}})["ok"]
        assert what_it_can_do(process) == confined(kernel)
        # A signal with a handler also ends the loop of `serve`.
        _, complaints = process.communicate(timeout=PATIENCE)
    assert (process.returncode, complaints) == (0, b"")
    assert len((tmp_path / "log").read_text().splitlines()) == 5


@pytest.mark.parametrize("kind", ["egg-info", "dist-info"])
def test_a_confined_server_whose_version_stands_where_it_was_started_answers(kernel, root, tmp_path, kind):
    told = tmp_path / "started" / f"zeno_normalizer.{kind}"
    told.mkdir(parents=True)
    for name in ("PKG-INFO", "METADATA"):
        (told / name).write_text("Metadata-Version: 2.1\nName: zeno-normalizer\nVersion: 7\n")
    command = [sys.executable, "-m", "zeno", "serve", root, "--log", tmp_path / "log", "--confine", "require"]
    question = b'{"id": "1", "op": "stat", "args": {"path": "a.txt"}}\n'
    done = subprocess.run(command, cwd=told.parent, input=question, capture_output=True, timeout=PATIENCE, check=False)
    assert json.loads(done.stdout)["ok"], done.stderr.decode()


def test_code_inside_the_mcp_server_cannot_get_out(kernel, root, intruder):
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    with started(zeno("mcp", "--root", root, "--confine", "require"), intruder) as process:
        assert "result" in ask(process, {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello})
        assert what_it_can_do(process) == confined(kernel)
        process.communicate(timeout=PATIENCE)


def test_code_inside_the_http_server_cannot_get_out(kernel, root, intruder):
    with started(zeno("http", "--root", root, "--port", "0", "--confine", "require"), intruder) as process:
        assert process.stderr is not None
        address = process.stderr.readline().split()[-1].decode()
        assert json.load(urllib.request.urlopen(address + "/healthz"))["status"] == "ok"
        assert what_it_can_do(process) == confined(kernel)
        request = urllib.request.Request(
            address + "/v1/ops/grep", b'{"pattern": "alpha"}', {"Content-Type": "application/json"}
        )
        assert len(json.load(urllib.request.urlopen(request))["hits"]) == 1
        process.terminate()
        process.communicate(timeout=PATIENCE)


def test_code_inside_an_unconfined_server_can_get_out(kernel, root, intruder):
    """The intruder is able to do all it tries, so the tests above show something."""
    with started(zeno("serve", "--root", root, "--confine", "off"), intruder) as process:
        told = ask(process, {"id": "1", "op": "describe", "args": {"schemas": False}})
        assert told["result"]["confinement"] == {"files": False, "network": False}
        can = what_it_can_do(process)
        process.communicate(timeout=PATIENCE)
    assert can.pop("not refused")
    assert set(can.values()) == {"possible", 0}


def test_describe_tells_what_is_enforced(pipe):
    told = pipe().ask("describe", schemas=False)["result"]["confinement"]
    assert told == {"files": abi() > 0, "network": seccomp.possible()}


def test_a_confined_server_follows_its_root_where_it_is_moved(kernel, root, pipe):
    (root / "a.txt").write_text("alpha\n")
    server = pipe("--confine", "require")
    assert server.ask("grep", pattern="alpha")["result"]["files_selected"] == 1
    root.rename(root.with_name("moved"))
    root.mkdir()
    (root / "other.txt").write_text("alpha\n")
    (root.with_name("moved") / "sub").mkdir()
    (root.with_name("moved") / "sub" / "b.txt").write_text("alpha\n")
    hits = server.ask("grep", pattern="alpha")["result"]["hits"]
    assert [hit["path"] for hit in hits] == ["a.txt", "sub/b.txt"]
    assert server.ask("read_file", path="sub/b.txt")["result"]["total_lines"] == 1


def test_links_that_lead_back_inside_are_followed_in_a_confined_server(kernel, root, pipe):
    (root / "a.txt").write_text("alpha\n")
    (root / "link").symlink_to(root / "a.txt")
    (root.parent / "way").symlink_to(root)
    (root / "detour").symlink_to(root.parent / "way" / "a.txt")
    server = pipe("--confine", "require")
    for name in ("link", "detour", str(root / "a.txt"), str(root.parent / "way" / "a.txt")):
        assert server.ask("read_file", path=name)["ok"], name


# A process that the kernel refuses Landlock: seccomp would do; a thread that runs already does it without.
THREADED = "import threading, time, sys, runpy; threading.Thread(target=time.sleep, args=(%r,), daemon=True).start();"


# A machine whose system calls are not known.
UNKNOWN = "import sys; from zeno.confinement import seccomp; seccomp._ARCHITECTURES.clear();"


@pytest.mark.parametrize(
    ("begun", "confine", "status", "files"),
    [
        (THREADED % PATIENCE, "require", 2, False),
        (THREADED % PATIENCE, "auto", 0, False),
        (UNKNOWN, "require", 2, True),
        (UNKNOWN, "auto", 0, True),
    ],
    ids=["no Landlock, required", "no Landlock", "no seccomp, required", "no seccomp"],
)
def test_a_server_that_cannot_confine_itself_says_so(root, begun, confine, status, files):
    program = begun + "from zeno.cli.parser import main; sys.exit(main())"
    command = [sys.executable, "-c", program, "serve", "--root", str(root), "--confine", confine]
    request = b'{"id": "1", "op": "describe", "args": {"schemas": false}}\n'
    done = subprocess.run(command, input=request, capture_output=True, check=False, timeout=PATIENCE)
    assert done.returncode == status
    if status:
        assert done.stdout == b""
        assert done.stderr.startswith(b"zeno: cannot confine itself: ")
        assert done.stderr.count(b"\n") == 1
    else:
        assert json.loads(done.stdout)["result"]["confinement"] == {"files": files and abi() > 0, "network": False}


def test_a_kernel_without_landlock_is_told_apart(monkeypatch):
    monkeypatch.setattr(landlock, "_CREATE_RULESET", 100_000)  # no system call has this number
    with pytest.raises(landlock.NotPossible, match="no Landlock"):
        landlock.restrict([])


def test_a_confined_server_goes_on_writing_its_log_when_that_is_moved_or_emptied(kernel, root, tmp_path, pipe):
    log = tmp_path / "log"
    server = pipe("--log", str(log), "--confine", "require")
    assert server.ask("stat", path=".")["ok"]
    # What `logrotate` does by default: the server goes on in the file that it has opened, until it is restarted.
    log.rename(tmp_path / "log.1")
    log.touch()
    assert server.ask("stat", path=".")["ok"]
    assert (len((tmp_path / "log.1").read_text().splitlines()), log.read_text()) == (5, "")
    # And with `copytruncate`: the next line is the first.
    os.truncate(tmp_path / "log.1", 0)
    assert server.ask("stat", path=".")["ok"]
    events = [json.loads(line)["event"] for line in (tmp_path / "log.1").read_text().splitlines()]
    assert events == ["request", "response"]


def test_a_claim_after_the_log_was_moved_is_written_or_refused_and_never_a_bug(kernel, root, tmp_path):
    log = tmp_path / "log"
    (root / "a.txt").write_text("alpha\n")
    with http_process(root, "--log", str(log), "--confine", "require") as (url, process):
        with httpx.Client(base_url=url, timeout=PATIENCE) as client:
            asked = client.post("/v1/ops/stat", json={"path": "a.txt"}).headers["Zeno-Request-Id"]
            claim = {"claim": "it is there", "answers": [asked]}
            assert client.post("/v1/claims", json=claim).status_code == 201
            log.rename(tmp_path / "log.1")
            log.touch()
            cited = {"path": "a.txt", "start_line": 1, "end_line": 1}
            cites_a_line = client.post("/v1/claims", json={"claim": "it says alpha", "evidence": [cited]})
            cites_an_answer = client.post("/v1/claims", json=claim)
        process.terminate()
        assert process.stderr is not None
        told = process.stderr.read()
    assert cites_a_line.status_code == 201
    assert cites_an_answer.json()["code"] in ("invalid_args", "trace_failed")
    assert "bug" not in told
    assert len((tmp_path / "log.1").read_text().splitlines()) == 5


@pytest.mark.parametrize(
    ("headers", "column"),
    [(("x86_64-linux-gnu/asm/unistd_64.h", "asm/unistd_64.h"), 0), (("asm-generic/unistd.h",), 1)],
)
def test_the_numbers_of_system_calls_are_those_of_the_kernels_headers(headers, column):
    """Compared with what is installed; headers that are older than a call do not name it."""
    files = [file for header in headers if (file := Path("/usr/include", header)).exists()]
    if not files:
        pytest.skip("needs the headers of the kernel")
    defined = dict(re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)\s", files[0].read_text()))
    ours = system_calls.REFUSED | system_calls.DECIDED_BY_ARGUMENTS
    known = {name: numbers[column] for name, numbers in ours.items() if name in defined}
    assert len(known) > 60
    assert known == {name: int(defined[name]) for name in known}
