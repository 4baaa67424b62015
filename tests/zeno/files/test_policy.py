"""A policy binds every operation: no answer depends on what is denied, by the name asked for or the resolved one."""

import json
import os
import shutil
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import contract_spec as spec
import pytest
from contract_spec.operations import requests
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.planting import prepare
from tests.support.request_model import glob_matches, may_hold
from zeno.cache.warm_corpus import WarmCorpus
from zeno.errors import InvalidArgs
from zeno.files.policy import Policy, deny_list
from zeno.files.tree import Tree
from zeno.results.seals import EvidenceDenied
from zeno.search.corpus import ColdCorpus
from zeno.session.server import Server
from zeno.trace.recorder import Recorder

FILES = [
    "a.txt",
    ".env",
    "sub/.env",
    "sub/b.txt",
    "sub/deep/key.PEM",
    "build/x.txt",
    "c.log",
    ".git/config",
    "sub/build",
]
DENY = [".env", "*.pem", "sub/*", "sub", "c.log", "b*", "*", "sub/deep/", ".git", "{a,c}.*", "secrets", "ignored"]
ONLY = ["sub", "sub/*", "**/*.txt", "a.txt", "sub/deep/*"]
RULES = "*.log\nbuild/\n"
LINKS = {"to_env": ".env", "to_sub": "sub", "sub/up": "../a.txt", ".env.link": "a.txt", "to_key": "sub/deep/key.PEM"}


def is_denied(path, deny, only, *, is_directory=False):
    """A plain model of the policy, without ignore rules inside of ignored directories."""
    steps = path.split("/")
    prefixes = ["/".join(steps[:length]) for length in range(1, len(steps) + 1)]
    for place in prefixes:
        globs = [glob for glob in deny if glob not in ("secrets", "ignored")]
        globs += deny_list("secrets") if "secrets" in deny else []
        for glob in (glob.rstrip("/").lower() for glob in globs):
            name = place.lower()
            if glob_matches(glob, name) or ("/" not in glob and glob_matches(glob, name.rpartition("/")[2])):
                return True
        if "ignored" in deny:
            name = place.rpartition("/")[2]
            folder = is_directory or place != path
            if name == ".git" or name.endswith(".log") or (name == "build" and folder):
                return True
    if is_directory and any(may_hold(glob, f"{path}/") for glob in only):
        return False
    return bool(only) and not any(glob_matches(glob.rstrip("/"), place) for glob in only for place in prefixes)


def plant(root):
    for old in root.iterdir():
        shutil.rmtree(old) if old.is_dir() and not old.is_symlink() else old.unlink()
    for path in FILES:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(f"needle in {path}\ndef f():\n")
    for path, target in LINKS.items():
        (root / path).symlink_to(target)
    (root / ".gitignore").write_text(RULES)
    still(root)


def still(root):
    """Give all directories one time: theirs changes with the names in them, denied or not."""
    for folder, _, _ in os.walk(root, topdown=False):
        os.utime(folder, (1, 1))


PATHS = [
    *FILES,
    *LINKS,
    "to_sub/.env",
    "to_sub/b.txt",
    "sub/../.env",
    ".git/../a.txt",
    "sub",
    "nothing",
    ".env/x",
    "SUB",
]
REQUESTS = [
    *(asked for path in PATHS for asked in requests(path, f"needle in {path}")),
    *(("read_file", {"path": path, "end_line": 5}) for path in PATHS),
    ("stat", {"paths": ["a.txt", ".env"]}),
    *(
        ("list_files", {"include_hidden": hidden, "gitignore": git})
        for hidden in (True, False)
        for git in (True, False)
    ),
    *(("list_files", {"glob": glob, "include_hidden": True}) for glob in ("sub/*", "*.pem", ".env", "nothing*")),
    ("list_files", {"exclude_dirs": ["sub"], "exclude_globs": ["*.txt"]}),
    ("list_files", {"max_files": 2, "include_hidden": True}),
    ("grep", {"pattern": "needle", "include_hidden": True}),
    ("grep", {"pattern": "changed", "include_hidden": True, "gitignore": True}),
    ("grep", {"pattern": "needle", "paths": ["sub", "*.log"], "context": 1}),
    ("grep", {"pattern": "needle", "paths": [".env"]}),
    ("describe", {"schemas": False}),
]


def policy(deny, only):
    globs = [glob for glob in deny if glob not in ("secrets", "ignored")]
    return Policy(globs, only, lists=["secrets"] if "secrets" in deny else [], ignored="ignored" in deny)


def answers(server):
    """All answers, times aside."""
    found = []
    for op, args in REQUESTS:
        answer = json.loads(server.answer(json.dumps({"id": "1", "op": op, "args": args}).encode()))
        result = answer.get("result", {})
        result.get("metrics", {}).pop("time_ms", None)
        for item in result.get("items", []):
            if item.get("is_dir"):
                del item["size"]
        found.append(answer)
    return found


def change(root, path, how):
    place = root / path
    if how == "content":
        place.write_text("changed\n" * 100)
    elif how == "binary":
        place.write_bytes(b"\0changed")
    else:
        place.unlink()
        if how == "directory":
            place.mkdir()
            (place / "x.txt").write_text("changed\n")
        elif how == "link":
            place.symlink_to("/etc/passwd")
        elif how == "fifo":
            os.mkfifo(place)


@settings(max_examples=40)
@given(
    deny=st.lists(st.sampled_from(DENY), max_size=3, unique=True),
    only=st.lists(st.sampled_from(ONLY), max_size=2, unique=True),
    how=st.sampled_from(["content", "binary", "directory", "link", "fifo", "gone"]),
)
def test_no_answer_depends_on_what_is_denied(tmp_path_factory, room_to_watch, deny, only, how):
    root = tmp_path_factory.mktemp("policy") / "root"
    root.mkdir()
    plant(root)
    with ExitStack() as stack:
        tree = stack.enter_context(Tree(str(root), policy(deny, only)))
        warm = WarmCorpus(tree, 1 << 20)
        stack.callback(warm.close)
        servers = [Server(ColdCorpus(tree)), Server(warm)]
        prepare(warm)
        before = [answers(server) for server in servers]
        kinds = [True, False] if how in ("directory", "link", "fifo", "gone") else [False]
        denied = [path for path in FILES if all(is_denied(path, deny, only, is_directory=kind) for kind in kinds)]
        for path in denied:
            change(root, path, how)
        still(root)
        prepare(warm)
        after = [answers(server) for server in servers]
        assert after[0] == before[0]
        for found in (before, after):
            cold, fresh = ([dict(one) for one in half] for half in found)
            for one in (*cold, *fresh):
                one.get("result", {}).pop("metrics", None)
            assert cold == fresh


@given(
    deny=st.lists(st.sampled_from(DENY), max_size=3, unique=True),
    only=st.lists(st.sampled_from(ONLY), max_size=2, unique=True),
)
@settings(max_examples=40)
def test_a_name_is_refused_and_left_out_exactly_when_it_is_denied(tmp_path_factory, deny, only):
    root = tmp_path_factory.mktemp("policy") / "root"
    root.mkdir()
    plant(root)
    with Tree(str(root), policy(deny, only)) as tree:
        server = Server(ColdCorpus(tree))

        def ask(op, **args):
            return json.loads(server.answer(json.dumps({"id": "1", "op": op, "args": args}).encode()))

        listed = ask("list_files", include_hidden=True)["result"]["files"]
        for path in FILES:
            denied = is_denied(path, deny, only)
            assert (path not in listed) == denied
            answer = ask("read_file", path=path)
            assert (answer.get("error", {}).get("code") == "denied") == denied
        for link, target in LINKS.items():
            aim = os.path.normpath(os.path.join(os.path.dirname(link), target))
            denied = is_denied(link, deny, only) or is_denied(aim, deny, only, is_directory=aim == "sub")
            if aim != "sub":
                assert (link not in listed) == denied
                assert (ask("stat", path=link).get("error", {}).get("code") == "denied") == denied


@pytest.mark.parametrize("flags", [["--deny", "secrets"], ["--only", "a.txt"]])
def test_the_policy_is_told_and_binds_a_server(root, pipe, flags):
    (root / ".env").write_text("SECRET=1\n")
    (root / "a.txt").write_text("text\n")
    server = pipe(*flags)
    told = server.ask("describe", schemas=False)["result"]["policy"]
    assert told["lists"] + told["only"] == flags[1:]
    assert server.ask("read_file", path=".env")["error"]["code"] == "denied"
    result = server.ask("grep", pattern="SECRET", include_hidden=True)["result"]
    assert (result["hits"], result["policy"]) == ([], True)


def test_globs_of_a_file_are_denied(root, tmp_path, pipe):
    (root / "private").mkdir()
    (root / "private" / "x").touch()
    (tmp_path / "list").write_text("# a list\n\nprivate/*\nignored\n")
    server = pipe("--deny-from", str(tmp_path / "list"))
    assert server.ask("describe", schemas=False)["result"]["policy"] == {
        "deny": ["private/*"],
        "only": [],
        "lists": [],
        "ignored": True,
    }
    assert server.ask("stat", path="private/x")["error"]["code"] == "denied"


@pytest.mark.parametrize("glob", ["", "/etc", "../x", "a/../b", "./", "{" + ",".join("ab" * 1000) + "}"])
def test_a_glob_that_makes_no_sense_is_refused(glob):
    with pytest.raises(InvalidArgs):
        Policy([glob])
    with pytest.raises(InvalidArgs):
        Policy(only=[glob])


def test_an_ignore_file_that_cannot_be_read_denies_its_directory(root):
    (root / "d").mkdir()
    (root / "d" / "x").write_text("text\n")
    (root / "d" / ".gitignore").write_text("#" * (1 << 19))
    (root / "y").write_text("text\n")
    with Tree(str(root), Policy(ignored=True)) as tree:
        server = Server(ColdCorpus(tree))
        listed = json.loads(server.answer(b'{"id":"1","op":"list_files","args":{"include_hidden":true}}'))["result"]
        assert (listed["files"], listed["policy"]) == (["y"], True)
        refused = json.loads(server.answer(b'{"id":"1","op":"read_file","args":{"path":"d/x"}}'))
        assert refused["error"]["code"] == "denied"


def test_what_git_ignores_is_denied(root):
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    rules = {".gitignore": "*.o\n/out/\n!keep.o\n", "d/.gitignore": "*.tmp\n", ".git/info/exclude": "local\n"}
    for path, text in rules.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text)
    paths = ["a.o", "keep.o", "out/x", "d/x.tmp", "x.tmp", "local", "d/local", "d/out/y"]
    for path in paths:
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text("text\n")
    told = subprocess.run(["git", "check-ignore", *paths], cwd=root, capture_output=True, text=True).stdout.split()
    assert told
    with Tree(str(root), Policy(ignored=True)) as tree:
        server = Server(ColdCorpus(tree))
        for path in paths:
            answer = json.loads(
                server.answer(json.dumps({"id": "1", "op": "read_file", "args": {"path": path}}).encode())
            )
            assert (answer.get("error", {}).get("code") == "denied") == (path in told)


def test_the_named_list_is_valid_and_names_what_it_says():
    assert spec.violations("zeno/deny_list.json", spec.resource("rules/deny/secrets.json")) == []
    policy = Policy(lists=["secrets"])
    for path in (
        ".env", "app/.env.local", "prod.env", "x/.git/config", "home/.ssh/id_ed25519", "ID_RSA", "tls/server.key",
        ".aws/credentials", "a/.docker/config.json", ".npmrc", "infra/terraform.tfstate.backup", ".netrc", ".pgpass",
        "a/.config/gcloud/x.db", "service-account-prod.json", "etc/ssh/ssh_host_rsa_key", "tls/server.pem.bak",
        "serviceAccountKey.json", "app-firebase-adminsdk-1.json", "application_default_credentials.json",
        ".config/gh/hosts.yml", "prod.kubeconfig", "pip.conf", ".pypirc", "plan.tfplan", "nginx/site.htpasswd",
        ".claude/.credentials.json", ".codex/auth.json", ".bash_history", ".rediscli_history", "wp-config.php",
        ".oci/config", ".azure/accessTokens.json", ".kube/config", "ansible/vault-password.txt", "krb5.keytab",
        ".vscode/sftp.json", "config/credentials.yml.enc", ".cargo/credentials.toml", ".gnupg/secring.gpg",
    ):  # fmt: skip
        assert policy.verdict(path) == "denied", path
    for path in (
        "README.md", "src/keys.py", ".github/workflows/ci.yml", ".gitignore", "environment.py",
        "config.json", "src/credentials/views.py", "docs/token.md", "src/sftp.py", "pip/__init__.py", "tokenizer.json",
        "src/sftp/client.go", "src/service_account.py", "history.py", "keyboard.properties", "shadow.css",
    ):  # fmt: skip
        assert policy.verdict(path) == "allowed", path


def test_memory_holds_no_denied_text(root, room_to_watch):
    (root / ".env").write_text("SECRET=1\n")
    (root / "a.txt").write_text("text\n")
    with Tree(str(root), Policy(lists=["secrets"])) as tree:
        corpus = WarmCorpus(tree, 1 << 20)
        prepare(corpus)
        held = corpus._cache
        assert held is not None
        assert sorted(held.listing.entries) == ["a.txt"]
        corpus.close()


def test_the_commands_that_read_a_trace_keep_to_a_policy(traced):
    traced.file("a.txt", "one\n")
    traced.file(".env", "SECRET=1\n")
    traced.ask("read_file", path=".env")
    traced.record.claim("there is a secret", [(".env", 1, 1)])
    assert traced.run("verify")[1]["hold"] == 1
    status, report = traced.run("verify", "--deny", "secrets")
    assert (status, report["hold"]) == (1, 0)
    assert "denied" in report["claims"][0]["evidence"][0]["reason"]
    page = Path(traced.log).with_suffix(".html")
    traced.run("view", "--out", str(page), "--deny", "secrets")
    assert "SECRET=1" not in page.read_text()


def trace(*words, check=0):
    """Runs `zeno trace ...` in a process of its own; returns what it complained about."""
    done = subprocess.run([sys.executable, "-m", "zeno", "trace", *words], capture_output=True, text=True, check=False)
    assert done.returncode == check, done.stderr
    return done.stderr


def test_no_claim_can_cite_a_denied_path(root, tmp_path):
    (root / ".env").write_text("SECRET=1\nTOKEN=2\n")
    (root / "link.txt").symlink_to(".env")
    (root / "a.txt").write_text("one\n")
    log = tmp_path / "t.jsonl"
    where = ["--log", str(log), "--root", str(root), "--deny", "secrets"]
    # The number of lines must not be told either, nor whether the file is there.
    for cited in (".env:1-1", ".env:1-99", "link.txt:1", ".env.gone:1"):
        told = trace("claim", "x", cited, *where, check=2)
        assert told.endswith("is denied by the server's policy, whether or not it exists; ask for another path\n"), told
    trace("claim", "it says one", "a.txt:1", *where)
    with Tree(str(root), Policy(lists=["secrets"])) as tree, Recorder(str(log), tree) as recorder:
        for path in (".env", "link.txt"):
            with pytest.raises(EvidenceDenied):
                recorder.claim("x", [{"path": path, "start_line": 1, "end_line": 1, "sha256": "0" * 64}])
    assert [json.loads(line)["claim"] for line in log.read_text().splitlines()] == ["it says one"]


def test_the_policy_of_a_recording_binds_the_claims_made_in_it(root, tmp_path):
    (root / ".env").write_text("SECRET=1\n")
    (root / "a.txt").write_text("one\n")
    log = tmp_path / "t.jsonl"
    record = ["record", "--root", str(root), "--log", str(log), "--deny", "secrets", "--"]
    inside = [sys.executable, "-m", "zeno", "trace", "claim", "x"]
    assert "denied" in trace(*record, *inside, ".env:1", check=2)
    assert "a policy already" in trace(*record, *inside, ".env:1", "--only", "*", check=2)
    agent = "from zeno.trace.recorder import Recorder; Recorder.of_environment().claim('x', [('.env', 1, 1)])"
    assert "EvidenceDenied" in trace(*record, sys.executable, "-c", agent, check=1)
    trace(*record, *inside, "a.txt:1")
    assert [json.loads(line)["evidence"][0]["path"] for line in log.read_text().splitlines()] == ["a.txt"]


def test_a_policy_survives_being_passed_on_as_json():
    policy = Policy(["*.bak"], ["src"], lists=["secrets"], ignored=True)
    assert Policy.from_json(policy.to_json()).to_json() == policy.to_json()
    for text in ("", "[]", "{}", '{"deny": 1, "only": [], "lists": [], "ignored": false}'):
        with pytest.raises(InvalidArgs):
            Policy.from_json(text)


def test_a_path_that_no_name_can_have_is_refused_as_such_whether_or_not_single_paths_are_quickened(tmp_path):
    with Tree(str(tmp_path), Policy(only=["a"])) as tree:
        for _ in range(2):
            with pytest.raises(InvalidArgs):
                tree.place("\0FF")
            tree.speed_up_lookups()
