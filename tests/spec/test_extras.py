"""A hint names a command that works for the installation it is printed by, and that takes no extra away."""

import importlib
import json
import sys

import pytest
from contract_spec.extras import install_command


@pytest.fixture
def prefix(tmp_path, monkeypatch):
    """An environment without a receipt, and an installation of which nothing is known."""
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bin" / "python"))
    monkeypatch.delitem(sys.modules, "pip", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    (tmp_path / "bin").mkdir()
    for name in ("python", "pip"):
        (tmp_path / "bin" / name).touch(0o755)
    return tmp_path


def record_source(prefix, url: str, **about: bool) -> None:
    """Write what an installer writes about where the distribution came from."""
    folder = prefix / "zeno_normalizer-0.1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: zeno-normalizer\nVersion: 0.1.0\n")
    (folder / "direct_url.json").write_text(json.dumps({"url": url, "dir_info": about}))


def test_an_editable_installation_stays_one(prefix):
    record_source(prefix, "file:///clone", editable=True)
    assert install_command("mcp") == "pip install --editable '/clone[mcp]'"


def receipt(*requirements: str) -> str:
    return f"[tool]\nrequirements = [{', '.join(requirements)}]\n"


def test_a_plain_environment_is_told_its_own_pip(prefix, monkeypatch):
    """Another pip of PATH would install into another environment, and one that uv made has none."""
    assert install_command("mcp") == "pip install 'zeno-normalizer[mcp]'"
    monkeypatch.setenv("PATH", "/nowhere")
    assert install_command("mcp") == f"uv pip install --python {sys.executable} 'zeno-normalizer[mcp]'"
    (prefix / "pip").mkdir()
    (prefix / "pip" / "__init__.py").touch()
    importlib.invalidate_caches()
    assert install_command("mcp") == f"{sys.executable} -m pip install 'zeno-normalizer[mcp]'"


@pytest.mark.parametrize(
    ("requirement", "wanted"),
    [
        ('{ name = "zeno-normalizer", extras = ["report"] }', "mcp,report"),
        ('{ name = "zeno-normalizer", extras = ["mcp"] }', "mcp"),
        ('{ name = "zeno-normalizer" }', "mcp"),
        ('{ name = "zeno-normalizer" }, { name = "other", extras = ["x"] }', "mcp"),
    ],
)
def test_uv_is_told_the_extras_that_it_has_as_well(prefix, requirement, wanted):
    (prefix / "uv-receipt.toml").write_text(receipt(requirement))
    assert install_command("mcp") == f"uv tool install 'zeno-normalizer[{wanted}]'"


@pytest.mark.parametrize(
    ("given", "wanted"),
    [("zeno-normalizer[report,index]==0.1.0", "index,mcp,report"), ("zeno-normalizer", "mcp"), ("./dist/z.whl", "mcp")],
)
def test_pipx_is_told_the_extras_that_it_has_as_well(prefix, given, wanted):
    (prefix / "pipx_metadata.json").write_text(json.dumps({"main_package": {"package_or_url": given}}))
    assert install_command("mcp") == f"pipx install --force 'zeno-normalizer[{wanted}]'"


@pytest.mark.parametrize("text", ["", "{", "[tool]\n", receipt("1"), '{"main_package": null}', "[]"])
def test_a_file_that_is_not_understood_is_no_reason_to_fail(prefix, text):
    for name in ("uv-receipt.toml", "pipx_metadata.json"):
        (prefix / name).write_text(text)
    assert install_command("mcp") == "pip install 'zeno-normalizer[mcp]'"


@pytest.mark.parametrize(
    ("url", "source"),
    [
        ("file:///home/anna/a%20clone", "/home/anna/a clone"),
        ("https://example.org/zeno.whl", "zeno-normalizer"),
    ],
)
def test_what_was_installed_from_a_folder_is_added_to_from_there(prefix, url, source):
    record_source(prefix, url)
    assert install_command("mcp") == f"pip install '{source}[mcp]'"
    (prefix / "uv-receipt.toml").write_text(receipt('{ name = "zeno-normalizer", extras = ["report"] }'))
    assert install_command("mcp") == f"uv tool install '{source}[mcp,report]'"
