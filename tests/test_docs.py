"""What the docs name is there: files, headings, macros; what they count is so many."""

from __future__ import annotations

import csv
import re
import shlex
from pathlib import Path

import pytest
import yaml

from spark_cdc import cli

pytestmark = pytest.mark.proves("house")

ROOT = Path(__file__).resolve().parents[1]
DOCS = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
    *sorted(ROOT.glob("docs/**/*.md")),
]
# Tables to look things up in: their rows are the examples.
LISTS = ("glossary.md", "how_do_i.md")
BEGINNINGS = [page for page in sorted(ROOT.glob("docs/*.md")) if page.name not in LISTS]
MACROS = {
    name
    for path in ROOT.glob("macros/**/*.sql")
    for name in re.findall(r"\{%-?\s*macro\s+(\w+)", path.read_text("utf-8"))
}
# columns of <entity>_changes
FEED = {"_change_type", "_commit_version", "_commit_timestamp"}
FOLDERS = "macros|tests|docs|models|seeds|src|benchmarks|profiles|packages|requirements|site"


def prose(path: Path) -> str:
    """Return a page without its blocks of code."""
    return re.sub(r"^```.*?^```$", "", path.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)


def anchors(path: Path) -> set[str]:
    """Return the names of a page's headings, as GitHub links them."""
    headings = re.findall(r"^#+ +(.*)$", prose(path), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", DOCS, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_a_page_names_is_there(page: Path) -> None:
    text = prose(page)
    missing = []
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        if "://" in link or (target.exists() and (not anchor or anchor in anchors(target))):
            continue
        missing.append(link)
    # whose columns begin with `_`, too
    if page.parent.name != "formats" and page.name != "coming_from.md":
        missing += sorted(set(re.findall(r"`(_[a-z]\w+)`", text)) - MACROS - FEED)
    paths = re.findall(rf"`((?:{FOLDERS})/[\w./-]+)`", text)
    missing += [path for path in paths if not (ROOT / path).exists()]
    assert missing == []


def commands(page: Path, program: str) -> list[str]:
    """What the page's blocks of code call, without what the shell makes of it."""
    text = re.sub(r"\\\n\s+", " ", page.read_text("utf-8"))
    fence = re.compile(r"^ *```.*?^ *```$", flags=re.DOTALL | re.MULTILINE)
    indented = re.findall(r"^ {4}.*$", fence.sub("", text), flags=re.MULTILINE)
    code = "\n".join([*fence.findall(text), *indented])
    lines = re.findall(rf"(?:^|[ /]){program} ([a-z].*)$", code, flags=re.MULTILINE)
    return [re.split(r"\s+#|\s*(?:>>|\||&&|;)\s", line)[0] for line in lines]


@pytest.mark.parametrize("page", DOCS, ids=lambda path: str(path.relative_to(ROOT)))
def test_commands_are_such_as_are_taken(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for line in commands(page, "make"):
        assert f"\n{line.split()[0]}:" in makefile, line
    for line in commands(page, "spark-cdc"):
        if line.split()[0].isalpha() and "…" not in line:
            line = line if line.count('"') % 2 == 0 else line.rpartition('"')[0]
            try:
                cli.parser().parse_args(shlex.split(line))
            except SystemExit as end:
                assert not end.code, f"spark-cdc {line}: {capsys.readouterr().err}"


@pytest.mark.parametrize("page", BEGINNINGS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_page_begins_with_its_task_and_an_example(page: Path) -> None:
    """Before its second heading at the latest, and not below the fold."""
    title, *rest = page.read_text("utf-8").splitlines()
    text = "\n".join(rest).lstrip("\n")
    beginning = "\n".join(re.split(r"^## ", text, flags=re.MULTILINE)[:2])[:3500]
    assert title.startswith("# ") and len(title) < 60
    assert re.match(r"[A-Z`\[]|    spark-cdc", text), "a sentence or a command, no heading"
    assert re.search(r"^(```| {4}\S|!\[)", beginning, flags=re.MULTILINE), "an example"


def test_the_readme_stays_short() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 150


def test_every_page_is_linked() -> None:
    linked = {
        (page.parent / name).resolve()
        for page in DOCS
        for name in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", prose(page))
    }
    folders = {path for path in linked if path.is_dir()}
    lonely = [page for page in DOCS[1:] if page not in linked and page.parent not in folders]
    assert lonely == []


def test_operations_are_those_of_the_seed() -> None:
    """And those of the macros: operations first, then the rows that are none."""
    with (ROOT / "seeds" / "operations.csv").open(encoding="utf-8") as file:
        seed = list(csv.DictReader(file))
    page = (ROOT / "docs" / "operations.md").read_text("utf-8")
    heads = page.partition("Rows that are no operation")
    shown = {"true": "yes", "false": "no"}
    for text, is_operation in ((heads[0], "true"), (heads[2], "false")):
        rows = re.findall(
            r"^\| `(\w)` \| ([\w ]+) \| .* \| (yes|no) \| (yes|no) \| [^|]* \|$",
            text,
            flags=re.MULTILINE,
        )
        assert rows == [
            (row["code"], row["name"], shown[row["in_current"]], shown[row["in_history"]])
            for row in seed
            if row["is_operation"] == is_operation
        ]
    code = (ROOT / "macros" / "context" / "entity.sql").read_text("utf-8")
    groups = code.split("macro _operations(group) -%}")[1].split("{%- endmacro")[0]
    assert set(re.findall(r"'(\w)'", groups)) == {row["code"] for row in seed}


def test_cdc_loads_has_the_columns_that_are_described() -> None:
    code = (ROOT / "macros" / "timeline" / "log.sql").read_text("utf-8")
    block = code.split("macro _load_log_columns() -%}")[1].split("{%- endmacro")[0]
    written = re.findall(r"'(\w+)': '[^']+'", block)
    described = yaml.safe_load((ROOT / "models" / "cdc_loads" / "cdc_loads.yml").read_text("utf-8"))
    names = [column["name"] for column in described["models"][0]["columns"]]
    assert written == names
    assert f"[{len(names)} columns]" in (ROOT / "docs" / "reference.md").read_text("utf-8")


def test_the_reserved_names_are_all_there():
    source = (ROOT / "macros/context/columns.sql").read_text("utf-8")
    names = [
        name
        for part in source.split("= [")[1:]
        for name in re.findall(r"'(\w+)'", part.split("]")[0])
    ]
    page = (ROOT / "docs/configuration.md").read_text("utf-8")
    paragraph = page.partition("**Reserved names**")[2].partition("\n\n")[0]
    assert len(names) > 30
    assert [name for name in names if f"`{name}`" not in paragraph] == []
