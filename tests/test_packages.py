"""dbt packages with and without the hub, and the stand-in for dbt_utils."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from spark_cdc import console, packages
from spark_cdc.errors import SparkCdcError

pytestmark = [pytest.mark.proves("house"), pytest.mark.integration]

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A project like this one, without its models."""
    for name in ("dbt_project.yml", "packages.yml"):
        shutil.copy(ROOT / name, tmp_path / name)
    shutil.copytree(ROOT / "packages", tmp_path / "packages")
    monkeypatch.setenv("SPARK_CDC_PROJECT_DIR", str(tmp_path))
    return tmp_path


@pytest.fixture
def hub(monkeypatch):
    """Set whether the hub answers; `dbt deps` then installs a package like the real one."""
    state = {"answers": False, "calls": 0}

    def install(_name, _command, *, cwd, **_):
        state["calls"] += 1
        folder = cwd / "dbt_packages" / "dbt_utils"
        folder.mkdir(parents=True)
        (folder / "dbt_project.yml").write_text("name: dbt_utils\nversion: 1.3.0\n")
        return ""

    monkeypatch.setattr(packages, "hub_answers", lambda: state["answers"])
    monkeypatch.setattr(console, "run", install)
    return state


def _is_stand_in(root):
    return (root / "dbt_packages" / "dbt_utils" / packages.MARKER).exists()


def test_stand_in_without_hub(root, hub):
    notes = packages.install()
    assert any("stand-in" in note for note in notes)
    assert _is_stand_in(root)
    assert packages.install(if_needed=True) == []
    assert hub["calls"] == 0


def test_stand_in_gives_way_to_the_real_one(root, hub):
    packages.install()
    hub["answers"] = True
    assert packages.install() == []
    assert not _is_stand_in(root)
    assert hub["calls"] == 1


def test_real_one_is_left_alone(root, hub):
    hub["answers"] = True
    packages.install()
    hub["answers"] = False
    assert "stays" in packages.install()[0]
    assert packages.install(if_needed=True) == []
    assert not _is_stand_in(root)


def test_changed_stand_in_is_copied_again(root, hub):
    packages.install()
    (root / "packages" / "dbt_utils" / "README.md").write_text("new")
    packages.install(if_needed=True)
    assert (root / "dbt_packages" / "dbt_utils" / "README.md").read_text() == "new"


def test_local_packages_are_linked(root, hub):
    other = root / "other"
    other.mkdir()
    (other / "dbt_project.yml").write_text("name: another\n")
    (root / "packages.yml").write_text("packages:\n  - local: other\n")
    packages.install()
    assert (root / "dbt_packages" / "another").resolve() == other


def test_a_dbt_utils_of_the_users_takes_the_stand_ins_place(root, hub):
    packages.install()
    other = root / "other"
    other.mkdir()
    (other / "dbt_project.yml").write_text("name: dbt_utils\n")
    (root / "packages.yml").write_text("packages:\n  - local: other\n")
    place = root / "dbt_packages" / "dbt_utils"
    assert packages.install() == [f"dbt_utils: linked to {other}"]
    assert place.resolve() == other
    assert "stays" in packages.install()[0]
    other.rename(root / "moved")  # and the link leads nowhere
    (root / "packages.yml").write_text("packages:\n  - local: moved\n")
    assert packages.install(if_needed=True) == [f"dbt_utils: linked to {root / 'moved'}"]
    place.unlink()
    place.mkdir()
    with pytest.raises(SparkCdcError, match="exists and is not a dbt package"):
        packages.install()
    (root / "packages.yml").write_text("packages:\n  - local: other\n")
    with pytest.raises(SparkCdcError, match="other' is not a dbt project"):
        packages.install()


def test_other_packages_have_no_stand_in(root, hub):
    (root / "packages.yml").write_text("packages:\n  - package: some/thing\n    version: 1.0.0\n")
    with pytest.raises(SparkCdcError, match="'some/thing' has no stand-in") as caught:
        packages.install()
    assert "DBT_PACKAGE_HUB_URL" in caught.value.message


def test_hub_that_hangs_is_given_up(monkeypatch):
    monkeypatch.setenv("DBT_PACKAGE_HUB_URL", "http://127.0.0.1:9")
    assert not packages.hub_answers(2)


def test_unique_combination_of_columns(cursor):
    """The stand-in's test finds a combination that occurs twice, and only that."""
    import jinja2

    text = (ROOT / "packages/dbt_utils/macros/unique_combination_of_columns.sql").read_text()
    text = text.replace("{% test ", "{% macro test_").replace("{% endtest %}", "{% endmacro %}")

    class Adapter:
        @staticmethod
        def quote(name):
            return f"`{name}`"

    environment = jinja2.Environment(extensions=["jinja2.ext.do"])
    module = environment.from_string(text, globals={"adapter": Adapter}).module
    relation = "(values (1, 'x'), (1, 'x'), (1, 'y'), (null, 'z'), (null, 'z')) as t (a, `b c`)"
    test = module.test_unique_combination_of_columns
    cursor.execute(str(test(relation, ["a", "b c"], quote_columns=True)))
    assert sorted(cursor.fetchall(), key=str) == [(1, "x", 2), (None, "z", 2)]
    cursor.execute(str(test(relation.replace("(1, 'y'), ", ""), ["a"])))
    assert sorted(row[1] for row in cursor.fetchall()) == [2, 2]
