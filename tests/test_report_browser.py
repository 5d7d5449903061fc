"""The report in a headless Chromium: figures as in the tables, filters, keys, paper, no error."""

from __future__ import annotations

import datetime as dt
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import reports
from browser import Browser, axe
from project import Project
from spark_cdc.report import figures
from spark_cdc.report import page as pages

pytestmark = [pytest.mark.proves("report"), pytest.mark.browser]

TILE = (
    "(tile => ['h3', '.state', '.rows b', 'dl'].map(part => tile.querySelector(part).innerText))"
    "(document.querySelector('.tile[data-entity=\"{}\"]'))"
)
TILES = "document.querySelectorAll('.tile:not([hidden])').length"
# The figures of the table of loads, each row an object by heading.
LOADS = (
    "(table => { const heads = [...table.tHead.rows[0].cells].map(cell => cell.textContent);"
    " return [...table.tBodies[0].rows].map(row => Object.fromEntries(heads.map((head, place) =>"
    " [head, row.cells[place].textContent]))); })"
    "(document.querySelector('[aria-label=\"Table: Loads\"] table'))"
)
ENTITY = "document.querySelector('#entity')"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    opened = Browser()
    yield opened
    opened.close()


@pytest.fixture(autouse=True)
def _no_error(browser: Browser) -> Iterator[None]:
    """The console stays empty, and nothing is asked of the network."""
    browser.problems.clear()
    browser.prefer("light")
    browser.size(1280, 900)
    yield
    assert browser.problems == []


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of 200 entities with 400 loads each."""
    now = dt.datetime(2025, 2, 10)
    found = [figures.entity(line, now) for line in reports.many(200, 400)]
    path = tmp_path_factory.mktemp("busy") / "report.html"
    path.write_text(pages.render("Loads in shop", found, now, []), encoding="utf-8")
    return path


def write(folder: Path, lines: list[dict[str, Any]]) -> Path:
    """The report of some entities of the story, with details of those that were loaded."""
    found = [
        figures.entity(
            line, reports.NOW, reports.details(line["entity"]) if line["loads"] else None
        )
        for line in lines
    ]
    path = folder / "report.html"
    page = pages.render("Loads in shop", found, reports.NOW, [])
    path.write_text(page, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of 30 entities with 60 loads each."""
    return write(tmp_path_factory.mktemp("story"), reports.story(30, 60))


@pytest.fixture(scope="module", params=[0, 3, 400])
def sized(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of 9 entities with so many loads each, one of a long name."""
    return write(tmp_path_factory.mktemp("sized"), reports.story(9, request.param))


def follow(browser: Browser, entity: str) -> None:
    browser.run(f"location.hash = '#entity/{entity}'")
    browser.wait(f"document.body.dataset.shown === '{entity}'")


def charts(browser: Browser) -> dict[str, int]:
    """Marks that each chart draws, by its name."""
    found: dict[str, int] = browser.run(
        "Object.fromEntries([...document.querySelectorAll('#entity figure')].map(figure =>"
        " [figure.dataset.chart, figure.querySelectorAll('svg .mark-rect path, svg .mark-line"
        " path, svg .mark-area path').length]))"
    )
    return found


def test_figures_are_those_of_the_tables(
    browser: Browser,
    project: Project,
    command: Callable[..., tuple[int, str]],
    tmp_path: Path,
) -> None:
    reports.load_shop(project)
    page = tmp_path / "shop.html"
    code, said = command("report", "--out", str(page))
    assert code == 0, said
    browser.open(page)
    (last,) = project.query(
        "select rows_inserted, rows_updated, rows_deleted from {s}.cdc_loads where entity = 'parts'"
        " and load_id = (select max(load_id) from {s}.parts_committed)"
    )
    rows = project.query("select count(*) from {s}.parts_current")[0][0]
    name, state, count, changes = browser.run(TILE.format("parts"))
    assert (name, state, count) == ("parts", "refused", str(rows))
    words = ("Inserted", "Updated", "Deleted")
    assert changes.split() == [
        text for one in zip(words, last, strict=True) for text in map(str, one)
    ]
    assert browser.run("document.querySelector('.finding').innerText").startswith("parts")

    follow(browser, "parts")
    drawn = charts(browser)
    names = ["changes", "operations", "current", "calendar", "troubles", "guards", "rules"]
    assert list(drawn) == [*names, "seconds", "lag", "bytes", "files"]
    assert all(drawn.values()), drawn
    logged = project.query(
        "select load_id, rows_inserted, rows_updated, rows_deleted, rows_unchanged, rows_current"
        " from {s}.cdc_loads where entity = 'parts' and status <> 'refused' order by load_id"
    )
    names = ("Inserted", "Updated", "Deleted", "Unchanged", "Rows")
    cells = [
        (row["Load"], *(int(row[name].replace(",", "")) for name in names))
        for row in browser.run(LOADS)
        if row["State"] != "refused"
    ]
    assert sorted(cells) == logged
    rejected = browser.run(
        "document.querySelector('[aria-label=\"Table: Rejected rows\"]').innerText"
    )
    assert '"price":"dear"' in rejected
    assert reports.EVIL in browser.run(f"{ENTITY}.innerText")
    assert browser.run("document.title") == f"Loads in {project.schema}"


def put(browser: Browser, field: str, value: str, event: str = "input") -> None:
    browser.run(
        f"(() => {{ const field = document.querySelector('{field}'); field.value = '{value}';"
        f" field.dispatchEvent(new Event('{event}', {{bubbles: true}})); }})()"
    )


def test_filters_by_entity_and_state(browser: Browser, story: Path) -> None:
    browser.open(story)
    assert browser.run(TILES) == 30
    put(browser, "#entity-filter", "feed_0")
    assert browser.run(TILES) == 10
    put(browser, "#entity-filter", "")
    browser.run("document.querySelector('[data-show=urgent]').click()")
    assert browser.run(TILES) == 2
    shown = (
        "[...document.querySelectorAll('.finding:not([hidden])')].map(one => one.dataset.entity)"
    )
    assert set(browser.run(shown)) == {"orders", "stock"}
    assert browser.run("document.getElementById('found').textContent") == "2 entities"
    browser.run("document.querySelector('[data-show=\"\"]').click()")
    assert browser.run(TILES) == 30


def test_filters_by_date(browser: Browser, busy: Path) -> None:
    browser.open(busy, "#entity/entity_007")
    put(browser, "[name=from]", "2024-03-01", "change")
    put(browser, "[name=to]", "2024-03-10", "change")
    browser.wait("document.querySelectorAll('[data-chart=changes] .mark-rect path').length === 30")
    inserted = {
        f"{row['rows_inserted']:,}"
        for row in rows_of(7)
        if "2024-03-01" <= row["business_time"] <= "2024-03-10" and row["status"] == "committed"
    }
    found = browser.run(LOADS)
    assert {row["Inserted"] for row in found if row["State"] == "active"} == inserted
    browser.run("document.querySelector('.period button').click()")
    browser.wait(
        "document.querySelectorAll('[data-chart=changes] .mark-rect path').length === 1200"
    )


def test_rejected_rows_are_filtered(browser: Browser, story: Path) -> None:
    browser.open(story, "#entity/invoices/rejected")
    assert browser.run("document.activeElement.id") == "section-rejected"
    rows = "document.querySelectorAll('[aria-label=\"Table: Rejected rows\"] tbody tr').length"
    assert browser.run(rows) == 54
    put(browser, '#entity form[aria-label="Rejected rows"] select', "due_date")
    columns = "[...document.querySelectorAll('[aria-label=\"Table: Rejected rows\"] .name')]"
    assert set(browser.run(f"{columns}.slice(1).map(one => one.textContent)")) == {"due_date"}
    put(browser, '#entity form[aria-label="Rejected rows"] input', "no such value")
    assert "No row fits." in browser.run(f"{ENTITY}.innerText")
    assert "0 of 54 rows" in browser.run(f"{ENTITY}.innerText")


def test_an_entity_shows_schema_changes_files_and_retention(browser: Browser, story: Path) -> None:
    browser.open(story, "#entity/customers")
    text = browser.run(f"{ENTITY}.innerText")
    assert "added region compared string\ndropped fax" in text
    assert "a run compacts the older half" in text
    assert "spark-cdc vacuum --select customers\n" in text
    for letter in "IUDNX":
        assert f"\t{letter}\t" not in text


def test_a_command_is_copied_or_selected(browser: Browser, story: Path) -> None:
    browser.open(story)
    browser.run("document.querySelector('.copy').click()")
    assert browser.run("getSelection().toString()") == "spark-cdc load 2024-06-28 --select orders"


def axe_of(browser: Browser) -> list[str]:
    """What axe-core finds on the page that is shown."""
    browser.run(f"{axe()};0")
    found: list[str] = browser.run(
        "axe.run(document).then(({violations}) => violations.map(one =>"
        " `${one.id}: ${one.nodes.map(node => node.target).join(' ')}`))"
    )
    return found


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_axe_finds_nothing(browser: Browser, story: Path, width: int, theme: str) -> None:
    """On the first page and those of entities; with axe-core, which npm brings."""
    browser.prefer(theme)
    browser.size(width, 900)
    for fragment in (
        "",
        "#entity/orders",
        "#entity/invoices",
        "#entity/lines",
        "#entity/customers",
    ):
        browser.open(story, fragment)
        assert axe_of(browser) == [], fragment


def test_axe_finds_what_is_wrong(browser: Browser, story: Path) -> None:
    browser.open(story)
    browser.run("document.querySelector('.tile .state').style.color = '#ccc'")
    browser.run(
        "document.getElementById('entity-filter').closest('label').replaceWith("
        "document.getElementById('entity-filter'))"
    )
    browser.run(f"{axe()};0")
    found = browser.run("axe.run(document).then(({violations}) => violations.map(one => one.id))")
    assert "color-contrast" in found


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280, 1920])
def test_pages_fit_their_width(browser: Browser, sized: Path, width: int, theme: str) -> None:
    """Nothing is cut off, however many loads and however long a name; charts fit their cards."""
    browser.prefer(theme)
    browser.size(width, 900)
    for fragment in ("", f"#entity/{reports.NAMES_OF_SHOP[-1]}", "#entity/orders"):
        browser.open(sized, fragment)
        assert browser.run("document.documentElement.scrollWidth") <= width
        cut = (
            "[...document.querySelectorAll('main *:not(svg *, .wide *)')].filter(one =>"
            " one.checkVisibility() && one.getBoundingClientRect().right > innerWidth)"
            ".map(one => one.outerHTML.slice(0, 80))"
        )
        assert browser.run(cut) == []
        assert browser.run(
            "[...document.querySelectorAll('.chart svg')].every(svg =>"
            " svg.getBoundingClientRect().width <= svg.closest('.chart').clientWidth + 1)"
        )


def test_values_before_and_after_are_read_on_a_phone(browser: Browser, story: Path) -> None:
    """Side by side, each with its name, and nothing to scroll to the side."""
    browser.size(390, 900)
    browser.open(story, "#entity/invoices")
    table = "document.querySelector('[aria-label=\"Table: Changed rows\"]')"
    assert browser.run(f"{table}.scrollWidth <= {table}.clientWidth")
    cells = (
        f"[...{table}.querySelectorAll('td.before, td.after')].map(one => {{"
        " const box = one.getBoundingClientRect();"
        " return [getComputedStyle(one, '::before').content, box.top, box.left, box.right]; })"
    )
    found = browser.run(cells)
    assert found
    for before, after in zip(found[::2], found[1::2], strict=True):
        assert (before[0], after[0]) == ('"Before"', '"After"')
        assert before[1] == after[1] and before[3] <= after[2] and after[3] <= 390
        assert min(before[3] - before[2], after[3] - after[2]) >= 120
    browser.size(1280, 900)
    assert browser.run(cells)[0][0] == "none"


def test_entities_without_loads_unfold_when_they_are_asked_for(
    browser: Browser, tmp_path: Path
) -> None:
    lines = [*reports.story(3, 5), *(reports.line(name, []) for name in ("bare", "blank"))]
    browser.open(write(tmp_path, lines))
    seen = (
        "[...document.querySelectorAll('[data-entity=bare]')].filter(one =>"
        " one.checkVisibility()).length"
    )
    assert browser.run(seen) == 0
    browser.run("document.querySelector('[data-show=idle]').click()")
    assert browser.run(seen) == 2
    assert axe_of(browser) == []
    browser.open(write(tmp_path, lines))
    put(browser, "#entity-filter", "bare")
    assert browser.run(seen) == 2


def rows_of(number: int) -> list[dict[str, Any]]:
    """Rows of cdc_loads of one of the many entities."""
    columns = json.loads(reports.many(200, 400)[number]["log"])
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def test_keys_and_light_and_dark(browser: Browser, busy: Path) -> None:
    browser.open(busy)
    browser.press("/")
    assert browser.run("document.activeElement.id") == "entity-filter"
    for letter in "_199":
        browser.press(letter)
    browser.wait(f"{TILES} === 1")
    for _ in range(20):
        browser.press("Tab")
        if browser.run("document.activeElement.closest('.tile') !== null"):
            break
    assert browser.run("document.activeElement.innerText") == "entity_199"
    browser.press("Enter")
    browser.wait("document.body.dataset.shown === 'entity_199'")
    assert browser.run("document.activeElement.id") == "entity-title"
    browser.press("Escape")
    browser.wait("document.body.dataset.shown === ''")

    paper = "getComputedStyle(document.body).backgroundColor"
    light = browser.run(paper)
    browser.prefer("dark")
    assert browser.run(paper) != light
    browser.run("document.getElementById('theme').click()")
    assert browser.run(paper) == light


def test_paper(browser: Browser, busy: Path) -> None:
    """Charts and tables fit on the page, in light colours; there are no buttons."""
    browser.open(busy, "#entity/entity_003")
    browser.prefer("dark", media="print")
    browser.size(794, 1123)  # A4
    assert browser.run("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not browser.run("document.getElementById('filters').checkVisibility()")
    assert browser.run(
        "[...document.querySelectorAll('.chart svg')].every(svg =>"
        " svg.getBoundingClientRect().width <= svg.closest('figure').clientWidth + 1)"
    )
    assert browser.run("document.documentElement.scrollWidth") <= 794
    assert not browser.run(
        "[...document.querySelectorAll('.wide')].filter(one => one.checkVisibility()"
        " && one.scrollHeight > one.clientHeight + 1).length"
    )
    assert browser.paper().startswith(b"%PDF")


def test_what_the_docs_show(browser: Browser, tmp_path: Path) -> None:
    """With SPARK_CDC_TEST_PICTURES=docs/pictures the pictures of docs/report.md are taken anew."""
    page = write(tmp_path, reports.story())
    folder = Path(os.environ.get("SPARK_CDC_TEST_PICTURES") or tmp_path)
    folder.mkdir(exist_ok=True)
    views = {
        "tiles": ("light", 1000, 900, ""),
        "entity": ("light", 1000, 900, "#entity/invoices"),
        "dark": ("dark", 1000, 700, "#entity/invoices/rejected"),
        "narrow": ("dark", 390, 800, "#entity/orders/changes"),
    }
    for name, (theme, width, height, fragment) in views.items():
        browser.prefer(theme)
        browser.size(width, height)
        browser.open(page, fragment)
        picture = folder / f"report_{name}.webp"
        browser.picture(picture)
        assert picture.stat().st_size < 60_000
    states = "[...document.querySelectorAll('.tile.urgent .state')].map(one => one.innerText)"
    assert browser.run(states) == ["refused", "stale"]


@pytest.fixture(scope="module")
def quiet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of entities with few loads, one of them of times of day."""
    days = [f"2024-06-2{day}" for day in range(1, 4)]
    rules = [{"rule": "cheap", "action": "warn", "judged": 100, "broken": 3}]
    refused = {"status": "refused", "guard": "empty", "message": "a guard stops the load " * 9}
    few = [*(reports.load(day, rules=rules) for day in days[:2]), reports.load(days[2], **refused)]
    times = [reports.load(f"{days[0]} 0{hour}:15:00", load_type="delta") for hour in range(3)]
    changes = {
        "load_id": "x",
        "counts": {"changed": 1},
        "columns": {"a_rather_long_column_name": 1},
        "rows": [
            {
                "row_difference": "changed",
                "keys": {"order_reference": "AB-2024-000017"},
                "column_differences": [
                    {
                        "column_name": "a_rather_long_column_name",
                        "value_before": "something that was there",
                        "value_after": "something else that follows",
                    }
                ],
            }
        ],
    }
    lines = {"few": few, "single": few[:1], "ticks": times}
    found = []
    for name, rows in lines.items():
        line = reports.line(name, rows, per="timestamp" if name == "ticks" else "date")
        details = {"changes": changes} if name == "few" else None
        found.append(figures.entity(line, dt.datetime(2024, 6, 24), details))
    path = tmp_path_factory.mktemp("quiet") / "report.html"
    now = dt.datetime(2024, 6, 24)
    path.write_text(pages.render("Loads in shop", found, now, []), encoding="utf-8")
    return path


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize(
    ("entity", "labels"),
    [
        ("single", ["2024-06-21"]),
        ("few", ["2024-06-21", "2024-06-22", "2024-06-23"]),
        ("ticks", [f"2024-06-210{hour}:15" for hour in range(3)]),
    ],
)
def test_each_of_few_loads_is_named_on_the_axis(
    browser: Browser, quiet: Path, width: int, entity: str, labels: list[str]
) -> None:
    browser.size(width, 900)
    browser.open(quiet, f"#entity/{entity}")
    for chart in ("changes", "guards", "seconds"):
        shown = browser.run(
            f"[...document.querySelectorAll('[data-chart={chart}] .role-axis-label text')]"
            ".filter(one => one.getAttribute('opacity') !== '0').map(one => one.textContent)"
        )
        assert [text for text in shown if "-" in text] == labels, chart
    assert browser.run("document.documentElement.scrollWidth") <= width


def test_a_narrow_page_breaks_no_words(browser: Browser, quiet: Path) -> None:
    """Long texts get a line of their own, values room for a word."""
    browser.size(390, 900)
    browser.open(quiet)
    width = "document.querySelector('.finding .text').getBoundingClientRect().width"
    assert browser.run(width) > 300
    browser.open(quiet, "#entity/few")
    widths = browser.run(
        "[...document.querySelectorAll('#entity td.value')].map(one => one.clientWidth)"
    )
    assert len(widths) >= 3 and min(widths) > 120


@pytest.mark.parametrize(("entity", "bars"), [("single", 1), ("few", 2), ("ticks", 3)])
def test_bars_of_few_loads_are_bars(browser: Browser, quiet: Path, entity: str, bars: int) -> None:
    """Charts fill their card, bars are no walls, and no axis has halves of rows."""
    browser.open(quiet, f"#entity/{entity}")
    widths, chart = browser.run(
        "(chart => [[...chart.querySelectorAll('.mark-rect path')].map(one =>"
        " one.getBoundingClientRect().width), chart.querySelector('svg').clientWidth])"
        "(document.querySelector('[data-chart=current]'))"
    )
    assert len(widths) == bars
    assert all(10 < width < 60 for width in widths) and chart > 300
    ticks = browser.run(
        "[...document.querySelectorAll('[data-chart=files] .role-axis-label text')]"
        ".map(one => one.textContent).filter(text => text && !text.includes('-'))"
    )
    assert ticks == ["0", "1"]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(
    ("chart", "mark", "names"),
    [
        ("changes", ".mark-rect path", ["business time", "operation", "rows"]),
        ("operations", ".mark-rect path", ["business time", "operation", "rows"]),
        ("current", ".mark-rect path", ["business time", "current rows"]),
        ("guards", ".mark-symbol.role-mark path", ["business time", "guard", "share used"]),
        ("rules", ".mark-symbol.role-mark path", ["business time", "rule", "pass rate"]),
        ("calendar", ".mark-rect path", ["day", "status"]),
    ],
)
def test_a_tooltip_shows_what_its_mark_is(
    browser: Browser, quiet: Path, theme: str, chart: str, mark: str, names: list[str]
) -> None:
    """In the colours of the page, without fields of Vega-Lite's own; of the last load."""
    browser.prefer(theme)
    browser.open(quiet, "#entity/few")
    x, y = browser.run(
        f"(() => {{ const marks = [...document.querySelectorAll('[data-chart={chart}] {mark}')];"
        " const found = marks.sort((one, other) => one.getBoundingClientRect().right"
        " - other.getBoundingClientRect().right).at(-1); found.scrollIntoView({block: 'center'});"
        " const at = found.getBoundingClientRect();"
        " return [at.x + at.width / 2, at.y + at.height / 2]; })()"
    )
    for step in (1, 0):
        browser.move(x - step, y)
    browser.wait("document.querySelector('#vg-tooltip-element.visible') !== null")
    found = browser.run(
        "[...document.querySelectorAll('#vg-tooltip-element td.key')].map(one => one.innerText)"
    )
    assert found == names
    if chart != "calendar":
        time = browser.run("document.querySelector('#vg-tooltip-element td.value').innerText")
        assert time == "2024-06-22"
    colours = (
        "(part => ['color', 'backgroundColor'].map(name => getComputedStyle(part)[name]))"
        "(document.querySelector('{}'))"
    )
    page = browser.run(colours.format(".card"))
    assert browser.run(colours.format("#vg-tooltip-element")) == page
    assert browser.run(colours.format("#vg-tooltip-element td.value"))[0] == page[0]
