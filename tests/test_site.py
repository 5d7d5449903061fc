"""The docs as a site: no warning, nothing fetched, and Markdown as Git hosts take it."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from benchmarks import summary

from browser import Browser

pytestmark = [pytest.mark.proves("house"), pytest.mark.integration]

ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / "docs" / "pictures"
FETCHED = re.compile(
    r"<(?:script|link|img|iframe|source)\b[^>]*\b(?:src|href)=\"?(?:https?:)?//[^\s>\"]+"
)


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"site_{name}", ROOT / "site" / f"{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


hooks, pictures = load("hooks"), load("pictures")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages, without dbt docs: links, anchors and the navigation are all right."""
    place = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [
            *(sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet"),
            *("--config-file", "site/mkdocs.yml", "--site-dir", str(place)),
        ],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert (built.returncode, built.stdout + built.stderr) == (0, "")
    return place


def test_every_page_is_there_and_none_fetches_anything(site: Path) -> None:
    pages = {path.relative_to(site).as_posix() for path in site.rglob("*.html")}
    docs = {path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md")}
    names = {path.with_suffix(".html").as_posix().replace("README", "index") for path in docs}
    assert names | {"index.html", "changelog.html", "macros.html"} <= pages
    fetched = {
        name: found
        for name in pages
        if (found := FETCHED.findall((site / name).read_text("utf-8")))
    }
    assert fetched == {}


def test_links_lead_to_pages_and_to_files_of_the_project(site: Path) -> None:
    settings = (site / "configuration.html").read_text("utf-8")
    assert 'href="source/models/orders/orders.yml.html"' in settings
    home = (site / "index.html").read_text("utf-8")
    assert 'href="decisions/index.html"' in home
    assert 'href="formats/index.html"' in home
    folder = (site / "source/examples/landing/orders/index.html").read_text("utf-8")
    assert 'href="2024-03-04/orders.csv.html"' in folder


def test_lists_are_those_of_a_git_host(site: Path) -> None:
    home = (site / "index.html").read_text("utf-8")
    known = home.partition("What to know before the first load")[2].partition("</li>\n</ul>")[0]
    assert known.count("<li>") == 5 and "- <strong>" not in home
    query = hooks._lists("- one:\n\n  ```sql\n  select 1\n    as n\n  ```\n\n  more\n\nend")
    assert query == "- one:\n\n    ```sql\n    select 1\n      as n\n    ```\n\n    more\n\nend"
    assert hooks._lists("Before\n- one\n  - two\n\n    code") == (
        "Before\n\n- one\n    - two\n\n    code"
    )


def test_a_page_that_nothing_names_has_a_place() -> None:
    config = hooks.on_config(SimpleNamespace(nav=["index.md", {"Events": ["formats/"]}]))
    events, more = config.nav[1]["Events"][0], config.nav[2]["More"]
    assert "formats/debezium.md" in events["Formats"] and "tour.md" in more
    assert not set(events["Formats"]) & set(more)


def test_macros_are_shown_with_their_arguments(site: Path) -> None:
    page = (site / "macros.html").read_text("utf-8")
    assert "<code>changes(entity, from_version, to_version)</code>" in page
    assert 'href="source/macros/views/changes.sql.html"' in page
    assert "{{ &#39;{{&#39; }}" not in page and "{{ '{{' }}" not in page


@pytest.mark.parametrize("name", sorted(path.name for path in PICTURES.glob("*.svg")))
def test_a_drawing_is_what_its_script_draws(name: str) -> None:
    text = (PICTURES / name).read_text("utf-8")
    if name == "benchmarks.svg":
        told = "python -m benchmarks.summary draws it anew"
        assert text == summary.chart(summary.read(ROOT)), told
    else:
        assert text == pictures.PICTURES[name]().svg(), "python site/pictures.py draws it anew"
    title, said = re.findall(r"<title id='t'>(.+)</title><desc id='d'>(.+)</desc>", text)[0]
    assert len(title) > 10 and len(said) > 100
    assert "prefers-color-scheme:dark" in text and len(text) < 12_000
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    opened = Browser()
    yield opened
    opened.close()


def go(browser: Browser, page: Path, fragment: str = "") -> None:
    browser.problems.clear()
    browser.visit(page, fragment)
    browser.wait("document.readyState === 'complete'")


@pytest.mark.browser
def test_search_works_in_files(site: Path, browser: Browser) -> None:
    go(browser, site / "index.html")
    browser.run("document.querySelector('[data-md-component=search-query]').focus()")
    for letter in "quarantine":
        browser.press(letter)
    browser.wait(
        "/[0-9]+ matching/.test(document.querySelector('.md-search-result__meta').innerText)"
    )
    assert browser.problems == []


# What people search for, and the page with the answer.
SEARCHED = {
    "SCD2": "reference",
    "type 2": "reference",
    "dead letter": "configuration",
    "soft delete": "configuration",
    "late-arriving": "events",
    "schema drift": "schema_change",
    "decimal comma": "values",
    "upsert": "reference",
    "time travel": "reference",
    "GDPR": "sensitive",
    "watermark": "events",
}


def test_synonyms_stand_in_the_index_of_the_search(site: Path) -> None:
    """As tags, which the search weighs above all text; the glossary has them."""
    index = json.loads((site / "search" / "search_index.json").read_text("utf-8"))["docs"]
    tags = {entry["location"]: " ".join(entry.get("tags", [])).lower() for entry in index}
    for word, page in SEARCHED.items():
        assert word.lower() in tags[f"{page}.html"], word
    boosts = {entry["location"]: entry.get("boost") for entry in index}
    assert boosts["changelog.html"] == 0.1 and boosts["events.html"] is None


@pytest.mark.browser
@pytest.mark.parametrize(("word", "page"), SEARCHED.items())
def test_a_synonym_leads_to_the_answer(site: Path, browser: Browser, word: str, page: str) -> None:
    """First or second, by the search's own ranking."""
    go(browser, site / "index.html", f"?q={word.replace(' ', '+')}")
    results = "[...document.querySelectorAll('.md-search-result__item')]"
    browser.wait(f"{results}.length > 0")
    found = browser.run(f"{results}.slice(0, 2).map(one => one.querySelector('a').pathname)")
    assert f"{page}.html" in [Path(one).name for one in found]


@pytest.mark.browser
def test_drawings_can_be_read_on_a_phone(site: Path, browser: Browser) -> None:
    """They keep their size and scroll, and the page does not."""
    browser.size(390, 844)
    try:
        go(browser, site / "index.html")
        assert browser.run("document.querySelector('article img').clientWidth") > 650
        assert browser.run("document.documentElement.scrollWidth") <= 390
    finally:
        browser.size(1280, 900)


@pytest.mark.browser
@pytest.mark.parametrize(("scheme", "shown"), [("default", "light"), ("slate", "dark")])
def test_drawings_follow_the_page(site: Path, browser: Browser, scheme: str, shown: str) -> None:
    """Dark by the page's own button, whatever the system has."""
    browser.prefer("dark" if shown == "light" else "light")
    go(browser, site / "one_row.html")
    browser.run(f"document.body.setAttribute('data-md-color-scheme', '{scheme}')")
    drawing = "document.querySelector('article img')"
    assert browser.run(f"{drawing}.naturalWidth") > 900
    assert browser.run(f"getComputedStyle({drawing}).colorScheme") == shown
    assert browser.problems == []


@pytest.mark.browser
def test_dbt_docs_lie_beside_it(browser: Browser) -> None:
    subprocess.run(["make", "--no-print-directory", "docs"], cwd=ROOT, check=True)
    place = ROOT / "target" / "site" / "dbt" / "index.html"
    go(browser, place)
    browser.wait("document.body.innerText.includes('The example project of spark_cdc')")
    # of the tree on the left nothing is there if a macro has the name of a folder beside it
    browser.wait("document.body.innerText.includes('dbt_utils')")
    assert [line for line in browser.problems if "asked for" in line or "TypeError" in line] == []
