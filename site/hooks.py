"""What `make docs` does beyond MkDocs: pages of other files, and Markdown as Git hosts read it.

The pages in docs/ stay as they are; README.md, CHANGELOG.md and macros/macros.yml become pages,
too, and each other file or folder of the project that a page links to one that shows it.
"""

from __future__ import annotations

import functools
import logging
import posixpath
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

log = logging.getLogger("mkdocs.hooks.spark_cdc")
ROOT = Path(__file__).resolve().parents[1]
DBT_DOCS = ROOT / "target" / "dbt_docs" / "static_index.html"
# files outside of docs/ -> pages
PAGES = {"README.md": "index.md", "CHANGELOG.md": "changelog.md", "macros/macros.yml": "macros.md"}
LANGUAGES = {
    ".sql": "sql+jinja",
    ".yml": "yaml",
    ".py": "python",
    ".json": "json",
    ".md": "markdown",
}
MOST_BYTES = 150_000
LINK = re.compile(r"(?<=\]\()([^)\s#]+)(?=[)#])")
FENCE = re.compile(r" *(```|~~~)")
MARKER = re.compile(r" *([-*] |\d+\. )")
# A row of the glossary: the term, other names for it, its meaning, the page that explains it.
TERM = re.compile(r"^\| (.+?) \| (.+?) \| .+ \| \[.+\]\(([\w/]+\.md)(?:#[\w-]+)?\) \|$", re.M)
# Pages that name every term and explain few: found after those that explain.
LAST_FOUND = ("changelog.md", "benchmarks", "testing.md", "architecture.md", "decisions/")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the pages of folders, and those that nothing names, into the navigation."""
    named: set[str] = set()

    def expand(entry: Any) -> Any:
        if isinstance(entry, dict):
            return {title: expand(below) for title, below in entry.items()}
        if isinstance(entry, list):
            return [expand(one) for one in entry]
        if not entry.endswith("/"):
            named.add(entry)
            return entry
        pages = [f"{entry}{path.name}" for path in sorted((ROOT / "docs" / entry).glob("*.md"))]
        pages.sort(key=lambda page: not page.endswith("README.md"))
        named.update(pages)
        return {entry.strip("/").capitalize(): pages}

    nav = [expand(entry) for entry in config.nav or []]
    every = sorted(path.relative_to(ROOT / "docs").as_posix() for path in ROOT.glob("docs/**/*.md"))
    more = [page for page in every if page not in named]
    if more:
        log.info("site/mkdocs.yml names no place for %s: under More", ", ".join(more))
        nav.append({"More": more})
    config.nav = nav
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages of files outside of docs/."""
    for name, page in PAGES.items():
        text = _macros() if name.endswith(".yml") else (ROOT / name).read_text("utf-8")
        files.append(File.generated(config, page, content=text))
    asked = {
        target
        for file in files.documentation_pages()
        for link in LINK.findall(_outside_code(file.content_string, lambda line: line))
        if (target := _target(file.src_uri, link)) and _page(target).startswith("source/")
    }
    folders = {one for one in asked if (ROOT / one).is_dir()}
    asked |= {
        path.relative_to(ROOT).as_posix()
        for folder in folders
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and _page(path.relative_to(ROOT).as_posix()).startswith("source/")
    }
    for target in sorted(asked):
        where = InclusionLevel.NOT_IN_NAV
        files.append(
            File.generated(config, _page(target), content=_source(target), inclusion=where)
        )
    # Without it, as in a test, its place in the navigation is kept.
    text = DBT_DOCS.read_text("utf-8") if DBT_DOCS.exists() else "make docs puts dbt docs here"
    files.append(File.generated(config, "dbt/index.html", content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Lead links to the pages of what they name, and lay out lists for Python-Markdown."""
    here = page.file.src_uri
    if here.startswith("source/"):
        return markdown
    page.meta["tags"] = _terms().get(here, [])
    if here.startswith(LAST_FOUND):
        page.meta["search"] = {"boost": 0.1}
    if "```mermaid" in markdown:
        log.warning(
            "%s: mermaid takes a script from the network: draw SVG, see site/pictures.py",
            here,
        )

    def lead(found: re.Match[str]) -> str:
        target = _target(here, found[0])
        return posixpath.relpath(_page(target), posixpath.dirname(here)) if target else found[0]

    return _lists(_outside_code(markdown, lambda line: LINK.sub(lead, line)))


@functools.cache
def _terms() -> dict[str, list[str]]:
    """By page the terms of the glossary that it explains, and what else they are called.

    The search weighs them above all text, so that a synonym leads to the page with the answer.
    """
    found: dict[str, list[str]] = {}
    for term, others, page in TERM.findall((ROOT / "docs" / "glossary.md").read_text("utf-8")):
        found.setdefault(page, []).extend(f"{term}, {others}".replace("`", "").split(", "))
    return found


def _target(page: str, link: str) -> str | None:
    """The file or folder of the project that a link of a page names; None if it is no such link."""
    if "://" in link or link.startswith(("mailto:", "/")):
        return None
    origin = {there: name for name, there in PAGES.items()}.get(page, f"docs/{page}")
    target = posixpath.normpath(posixpath.join(posixpath.dirname(origin), link))
    return target if not target.startswith("..") and (ROOT / target).exists() else None


def _page(target: str) -> str:
    """The page of a file or folder of the project, or what MkDocs copies beside the pages."""
    if target in PAGES:
        return PAGES[target]
    if (ROOT / target / "README.md").exists():
        target += "/README.md"
    if target.startswith("docs/") and target.endswith((".md", ".svg", ".webp", ".png")):
        return target.removeprefix("docs/")
    return f"source/{target}/index.md" if (ROOT / target).is_dir() else f"source/{target}.md"


def _outside_code(markdown: str, change: Callable[[str], str]) -> str:
    """Markdown with each line outside of fenced code changed; code is left as it is."""
    lines, inside = [], False
    for line in markdown.split("\n"):
        if FENCE.match(line):
            inside = not inside
        lines.append(line if inside else change(line))
    return "\n".join(lines)


def _lists(markdown: str) -> str:
    """Lists with a blank line before them and four blanks for what is in an item."""
    lines: list[str] = []
    fence: int | None = None  # by how much the block of code that is open is moved
    within = False
    for line in markdown.split("\n"):
        indent = len(line) - len(line.lstrip())
        moved = 4 - indent if within and indent in (2, 3) else 0
        if FENCE.match(line):
            lines.append(" " * (moved if fence is None else fence) + line)
            fence = moved if fence is None else None
            continue
        if fence is not None:
            lines.append(" " * fence + line if line else line)
            continue
        if MARKER.match(line) and indent < 4:
            if not within and lines and lines[-1].strip():
                lines.append("")
            within = True
        elif line and not indent and lines and not lines[-1].strip():
            within = False
        lines.append(" " * moved + line)
    return "\n".join(lines)


def _source(target: str) -> str:
    """A page that shows a file, or lists a folder."""
    path = ROOT / target
    head = f"---\nsearch: {{exclude: true}}\n---\n# `{target}`\n\n"
    if path.is_dir():
        here = posixpath.dirname(_page(target))
        names = sorted(one.relative_to(ROOT).as_posix() for one in path.rglob("*") if one.is_file())
        return head + "\n".join(
            f"- [`{name.removeprefix(target + '/')}`]({posixpath.relpath(_page(name), here)})"
            for name in names
        )
    if path.stat().st_size > MOST_BYTES:
        return head + f"{path.stat().st_size:,} bytes, too many to show them here."
    text = path.read_text("utf-8", errors="replace")
    return head + f"~~~~~~~~{LANGUAGES.get(path.suffix, 'text')}\n{text}\n~~~~~~~~\n"


def _macros() -> str:
    """The macros that are described in macros/macros.yml, with their arguments."""
    found = yaml.safe_load((ROOT / "macros" / "macros.yml").read_text("utf-8"))["macros"]
    parts = [
        "# Macros",
        "What `macros/macros.yml` says of them; which is for what: "
        "[reference](../docs/reference.md#macros).",
    ]
    for macro in found:
        arguments = macro.get("arguments", [])
        text = macro["description"].replace("{{ '{{' }}", "{{").replace("{{ '}}' }}", "}}").strip()
        text = re.sub(r"\(docs/([\w/]+\.md)((?:#[\w-]+)?)\)", r"([more](../docs/\1\2))", text)
        parts.append(f"## {macro['name']}")
        parts.append(f"`{macro['name']}({', '.join(one['name'] for one in arguments)})`")
        parts.append(text)
        if arguments:
            rows = ["| Argument | Type | |", "|---|---|---|"]
            for one in arguments:
                said = " ".join(one["description"].split())
                rows.append(f"| `{one['name']}` | `{one['type']}` | {said} |")
            parts.append("\n".join(rows))
        parts.append(f"[Source]({_macro_file(macro['name'])})")
    return "\n\n".join(parts) + "\n"


def _macro_file(macro: str) -> str:
    """The file of a macro, from the folder of all macros."""
    start = re.compile(rf"\{{%-? *macro {macro}\(")
    files = sorted((ROOT / "macros").rglob("*.sql"))
    found = next(path for path in files if start.search(path.read_text("utf-8")))
    return found.relative_to(ROOT / "macros").as_posix()
