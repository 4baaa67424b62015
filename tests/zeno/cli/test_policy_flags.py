"""The flags of a policy: a value that would deny nothing is refused, and agents are not shown secrets."""

import json

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.interfaces import http_process
from zeno.cli.parser import main, make_parser
from zeno.cli.policy_flags import _is_nearly, policy_of
from zeno.errors import CannotRun


def edits(name, letters):
    """Return the name and all texts that one added, missing, replaced or swapped letter makes of it."""
    cuts = [(name[:at], name[at:]) for at in range(len(name) + 1)]
    added = {f"{left}{letter}{right}" for left, right in cuts for letter in letters}
    missing = {left + right[1:] for left, right in cuts}
    replaced = {f"{left}{letter}{right[1:]}" for left, right in cuts if right for letter in letters}
    swapped = {left + right[1] + right[0] + right[2:] for left, right in cuts if len(right) > 1}
    return {name} | added | missing | replaced | swapped


def policy(*flags, command="serve"):
    return policy_of(make_parser(of_trace=False).parse_args([command, "--root", ".", *flags]))


@pytest.mark.parametrize(
    "value",
    ["secret", "Secrets", "SECRETS", "secrtes", "secretss", "ecrets", "ignore", "Ignored", "ignroed", "ignores"],
)
def test_a_value_that_is_nearly_the_name_of_a_list_is_refused(value):
    with pytest.raises(CannotRun, match=rf"did you mean (secrets|ignored)\?.*\./{value}"):
        policy("--deny", value)


@given(st.one_of(st.text("abcs", max_size=5), st.sampled_from(sorted(edits("abc", "abcs")))))
def test_nearly_is_one_edit_away(text):
    assert _is_nearly(text, "abc") == (text in edits("abc", "abcs"))


def test_a_value_that_is_nearly_the_name_of_a_list_is_refused_in_a_file_too(tmp_path):
    (tmp_path / "list").write_text("*.pem\nSecrets\n")
    with pytest.raises(CannotRun, match="did you mean secrets"):
        policy("--deny-from", str(tmp_path / "list"))


@pytest.mark.parametrize("value", ["./secret", "sec", "secret.txt", "*secret", "secretary", "ignite"])
def test_other_values_are_globs(value):
    assert policy("--deny", value).deny == [value]


def test_a_byte_order_mark_is_no_part_of_the_first_glob(tmp_path):
    (tmp_path / "list").write_bytes(b"\xef\xbb\xbf*.pem\r\n*.key\r\n")
    assert policy("--deny-from", str(tmp_path / "list")).deny == ["*.pem", "*.key"]


def test_only_a_line_feed_ends_a_line_of_a_list(tmp_path):
    (tmp_path / "list").write_text("a\u2028b\nc\x0cd\n")
    assert policy("--deny-from", str(tmp_path / "list")).deny == ["a\u2028b", "c\x0cd"]


@pytest.mark.parametrize("line", ["*.pem # keys", "*.pem\t# keys", "private/* #"])
def test_a_comment_behind_a_glob_is_refused(tmp_path, line):
    (tmp_path / "list").write_text(f"# keys\n  # of ours\n{line}\n")
    with pytest.raises(CannotRun, match=r"line 3: .*comment.*\[#\]"):
        policy("--deny-from", str(tmp_path / "list"))


def test_a_number_sign_in_a_name_is_no_comment(tmp_path):
    (tmp_path / "list").write_text("a#b\n*[#]\n")
    assert policy("--deny-from", str(tmp_path / "list")).deny == ["a#b", "*[#]"]


@pytest.mark.parametrize("glob", ["src//keys", "src/./keys", ".//src/keys//", "./././src/keys/."])
def test_slashes_and_dots_that_name_no_step_do_not_count(glob):
    assert policy("--deny", glob).verdict("src/keys/x") == "denied"
    assert policy("--only", glob).verdict("src/keys/x") == "allowed"
    assert policy("--only", glob).verdict("src/other") == "denied"


@pytest.mark.parametrize(
    "flags", [["--deny", "secret/**"], ["--deny", "src/keys"], ["--deny", "{a/b,c/d}"], ["--only", "src"]]
)
def test_a_glob_that_matches_in_no_named_root_is_refused(tmp_path, capsys, flags):
    named = [f"--root={name}={tmp_path / name}" for name in ("app", "lib")]
    for name in ("app", "lib"):
        (tmp_path / name).mkdir()
    assert main(["call", "list_files", *named, *flags]) == 2
    glob = flags[1]
    assert capsys.readouterr().err == (
        f"zeno: {flags[0]} {glob!r} matches in no root: a path begins with the name of its root; give "
        f"'app/{glob}', or '*/{glob}' for every root\n"
    )


@pytest.mark.parametrize("glob", ["app/secret/**", "*/secret", "**/secret", "APP/secret", "{app,x}/secret", "./secret"])
def test_a_glob_that_matches_in_a_named_root_denies_there(tmp_path, capsys, glob):
    for name in ("app", "lib"):
        (tmp_path / name / "secret").mkdir(parents=True)
    (tmp_path / "app" / "secret" / "key").write_text("x")
    named = [f"--root={name}={tmp_path / name}" for name in ("app", "lib")]
    assert main(["call", "read_file", "path=app/secret/key", *named, "--deny", glob]) == 1
    assert "denied" in "".join(capsys.readouterr())


@pytest.mark.parametrize("command", ["mcp", "http"])
def test_agents_are_denied_secrets_unless_the_flag_allows_them(command):
    assert policy(command=command).lists == ["secrets"]
    assert policy("--deny", "secrets", "--deny", "x", command=command).lists == ["secrets"]
    assert not policy("--allow", "secrets", command=command).active
    assert policy("--allow", "secrets", "--deny", "x", command=command).lists == []


@pytest.mark.parametrize("command", ["serve", "shell"])
def test_the_plain_protocol_denies_nothing_by_itself(command):
    assert not policy(command=command).active


def test_what_is_denied_cannot_be_allowed():
    with pytest.raises(CannotRun, match="--deny secrets and --allow secrets"):
        policy("--deny", "secrets", "--allow", "secrets", command="mcp")


@pytest.mark.parametrize("value", ["secret", "ignored", "*.pem"])
def test_only_the_list_of_secrets_can_be_allowed(value, capsys):
    with pytest.raises(SystemExit):
        main(["mcp", "--root", ".", "--allow", value])
    assert "--allow" in capsys.readouterr().err


def test_a_server_for_agents_shows_no_secrets(root):
    (root / ".env").write_text("SECRET=1\n")
    with http_process(root) as (url, process):
        answer = httpx.post(f"{url}/v1/ops/read_file", json={"path": ".env"})
        described = httpx.post(f"{url}/v1/ops/describe", json={"schemas": False}).json()
        process.terminate()
    assert json.loads(answer.text)["code"] == "denied"
    assert described["policy"]["lists"] == ["secrets"]
