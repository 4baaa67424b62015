"""The documentation site: complete, and readable without a network."""

import re
import subprocess
import sys
from pathlib import Path

import contract_spec as spec
import pytest
from contract_models.client.methods import Methods

from normalizer.api import Ledgers
from tests.support.doc_pages import pages
from tools.site import NAV

pytestmark = pytest.mark.xdist_group("site")  # made once
ROOT = Path(__file__).parents[2]
LOADED = re.compile(
    r"""<(?:script|img|iframe|link rel="(?:stylesheet|preconnect|icon)")[^>]*(?:src|href)="(https?:[^"]+)"""
)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    out = tmp_path_factory.mktemp("docs") / "site"
    command = [sys.executable, "-m", "tools.site", "--out", str(out)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return out


def test_every_page_and_every_schema_is_in_the_site(site):
    made = {path.relative_to(site).with_suffix("").as_posix() for path in site.rglob("*.html")}
    for page in pages():
        name = page.relative_to(ROOT).with_suffix("").as_posix()
        if name.startswith(("docs/", "spec/", "ARCHITECTURE", "CONTRIBUTING")):
            assert {name, name.replace("README", "index")} & made, name
    for name in spec.names():
        assert f"reference/schemas/{name.removesuffix('.json')}" in made


def test_the_python_pages_have_every_method_of_both_packages(site):
    for page, owner in (("python", Methods), ("ledgers", Ledgers)):
        text = (site / "reference" / f"{page}.html").read_text(encoding="utf-8")
        for name in vars(owner):
            if not name.startswith("_") and callable(getattr(owner, name)):
                assert f'<h2 id="{name}">' in text, name


def test_every_page_of_the_menu_is_in_the_menu_of_every_page(site):
    text = (site / "docs" / "guides" / "interfaces.html").read_text(encoding="utf-8")
    menu = text[text.index("md-nav--primary") :]
    names = [
        name for group in NAV for inner in group.values() if isinstance(inner, list) for one in inner for name in one
    ]
    assert len(names) > 20
    for name in names:
        assert re.search(rf">\s*{re.escape(name)}\s*<", menu), name


def test_a_property_of_a_schema_leads_to_the_definition_of_its_type(site):
    text = (site / "reference" / "schemas" / "eval" / "judge_bundle.html").read_text(encoding="utf-8")
    assert '<a href="run_metadata.html#judge_kind">judge_kind</a>' in text
    assert '<h2 id="judge_kind">' in (site / "reference" / "schemas" / "eval" / "run_metadata.html").read_text()


def test_nothing_is_loaded_from_elsewhere(site):
    for path in site.rglob("*.html"):
        assert LOADED.findall(path.read_text(encoding="utf-8")) == [], path


def test_the_search_knows_words_of_pages_and_of_schemas(site):
    index = (site / "search.json").read_text(encoding="utf-8")
    for word in ("receipts", "max_line_chars", "total_mismatch"):
        assert word in index
