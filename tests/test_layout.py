"""Where the macros lie: folders in the order of the data, and a macro where its name says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

pytestmark = pytest.mark.proves("house")

ROOT = Path(__file__).resolve().parents[1]
MACROS, DATA_TESTS = ROOT / "macros", ROOT / "tests" / "generic"
PACKAGE = ROOT / "src" / "spark_cdc"
# A folder may use those before it; what users call may use all. Adapters are found by their names.
ORDER = (
    *("utils", "hash", "entity", "values", "land", "stage", "adapters", "definition", "compare"),
    *("manifest", "load", "views", "operations", "targets"),
)
FILES = {
    path.relative_to(MACROS): re.sub(r"\{#.*?#\}", "", path.read_text("utf-8"), flags=re.DOTALL)
    for path in sorted(MACROS.rglob("*.sql"))
}
PLACES = {
    name: path
    for path, text in FILES.items()
    for name in re.findall(r"\{%-?\s*macro\s+(\w+)", text)
}
USES = {path: set(re.findall(r"\bspark_cdc\.(\w+)\b", text)) for path, text in FILES.items()}


def test_every_macro_that_is_used_is_there() -> None:
    # spark_cdc.compact and the like stand in messages, as commands
    missing = {name for names in USES.values() for name in names if name.startswith("_")}
    assert missing <= set(PLACES)


def test_what_users_call_lies_at_the_top_and_nothing_else() -> None:
    public = {name: path for name, path in PLACES.items() if not name.startswith("_")}
    assert 15 <= len(public) <= 36
    for name, path in public.items():
        assert path == Path(f"{name}.sql")
    for path in FILES:
        assert len(path.parts) == 2 or path.stem in public, path


def test_dbt_docs_can_draw_their_tree() -> None:
    """A macro beside a folder of its name ends the script of dbt docs, which then lists nothing."""
    described = yaml.safe_load((MACROS / "macros.yml").read_text("utf-8"))["macros"]
    shown = {one["name"] for one in described if one.get("docs", {}).get("show", True)}
    assert not shown & set(ORDER), "docs: {show: false} for these in macros.yml"


def test_folders_depend_on_those_before_them() -> None:
    wrong = [
        f"{path} uses {name} of {PLACES[name]}"
        for path, names in USES.items()
        if len(path.parts) == 2
        for name in sorted(names)  # messages name what users call
        if name in PLACES and name.startswith("_") and place(PLACES[name]) > place(path)
    ]
    assert wrong == []


def place(path: Path) -> int:
    """How late in the order a file's folder comes."""
    return ORDER.index(path.parts[0]) if len(path.parts) == 2 else len(ORDER)


def test_a_macro_of_others_lies_in_a_file_of_its_topic() -> None:
    wrong = [
        f"{name} lies in {PLACES[name]} and is used in {path}"
        for path, names in USES.items()
        for name in sorted(names)
        if name in PLACES and PLACES[name] != path
        if not words(PLACES[name].stem) <= words(name)
    ]
    assert wrong == []


def words(name: str) -> set[str]:
    """The words of a name, in the singular."""
    return {word.removesuffix("s") for word in name.strip("_").split("_")}


def test_nothing_is_there_that_nobody_uses() -> None:
    used = {name for names in USES.values() for name in names}
    for path in DATA_TESTS.glob("*.sql"):
        used |= set(re.findall(r"\bspark_cdc\.(\w+)\b", path.read_text("utf-8")))
    for path in PACKAGE.rglob("*.py"):  # what the command line asks for
        used |= set(re.findall(r"\b_(?:verify|diff|print)_\w+", path.read_text("utf-8")))
    formats = "_events_"  # found by the format's name
    for name in PLACES:
        assert not name.startswith("_") or name in used or name.startswith(formats), name
