"""Where the macros lie: folders in the order of the data, a file for each topic."""

from __future__ import annotations

import datetime
import re
from collections import Counter
from pathlib import Path

import pytest
import yaml
from dbt.parser.schemas import is_valid_type
from dbt_common.clients.jinja import get_environment
from jinja2 import nodes

pytestmark = pytest.mark.proves("house")

ROOT = Path(__file__).resolve().parents[1]
MACROS, DATA_TESTS = ROOT / "macros", ROOT / "tests" / "generic"
PACKAGE = ROOT / "src" / "spark_cdc"
# A folder may use those before it. Formats of change events are found by their names.
ORDER = (
    *("utils", "hash", "context", "values", "source", "staging", "formats", "schema", "diff"),
    *("timeline", "ledger", "views", "operations", "publish", "models"),
)
MOST_FILES, MOST_LINES = 98, 740
# Lines of code under macros/, without comments and blanks; raised by a change that needs more, with
# the reason in its commit. And lines of Jinja in one macro: SQL text does not count.
MOST_CODE, MOST_LOGIC = 19_249, 60
IS_LOGIC = ("{%", "{{ return", "'", "(", "~", "}")
# a table, and macros that were longer when the limit came: they may only become shorter
LONG = {
    "_known_settings_table": 151,
    "_classify_events_sql": 73,
    "_vacuum_entity": 63,
}
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


def test_macros_that_tests_replace_are_there() -> None:
    """dbt's unit tests pass over others in silence, and so do tests that load macros alone."""
    names = {
        name
        for path in [*ROOT.glob("models/*/*_unit_tests.yml"), *ROOT.glob("tests/*.py")]
        for name in re.findall(
            r"spark_cdc\.(_\w+): |^ +(_[a-z]\w+)=lambda|\.replace\(\s*\"(_\w+)\",\s*lambda",
            path.read_text(),
            re.M,
        )
    }
    assert {name for found in names for name in found if name} - set(PLACES) == set()


def test_macros_are_called_with_the_arguments_that_they_take() -> None:
    """Jinja says so only when a call is reached."""
    parse = get_environment(None, capture_macros=True).parse
    trees = {path: parse((MACROS / path).read_text("utf-8")) for path in FILES}
    taken = {
        macro.name.removeprefix("dbt_macro__"): macro
        for tree in trees.values()
        for macro in tree.find_all(nodes.Macro)
    }
    wrong = []
    for path, tree in trees.items():
        for call in tree.find_all(nodes.Call):
            macro = taken.get(getattr(call.node, "attr", ""))
            if not macro or getattr(call.node.node, "name", "") != "spark_cdc" or call.dyn_kwargs:
                continue
            names = [argument.name for argument in macro.args]
            given = names[: len(call.args)] + [argument.key for argument in call.kwargs]
            needed = names[: len(names) - len(macro.defaults)]
            if len(call.args) > len(names) or set(given) - set(names) or set(needed) - set(given):
                wrong.append(f"{path}:{call.lineno}: {macro.name} takes {names}")
    assert wrong == []


def test_what_users_call_is_described_and_stands_before_what_it_uses() -> None:
    described = yaml.safe_load((MACROS / "macros.yml").read_text("utf-8"))["macros"]
    public = {name for name in PLACES if not name.startswith("_")}
    assert public == {one["name"] for one in described}
    for path, text in FILES.items():
        names = re.findall(r"\{%-?\s*macro\s+(\w+)", text)
        first = [name for name in names if name in public]
        assert names[: len(first)] == first, path


def test_described_arguments_are_those_that_macros_take() -> None:
    """dbt warns of others only while it parses everything anew."""
    parse = get_environment(None, capture_macros=True).parse
    taken = {
        macro.name.removeprefix("dbt_macro__"): [argument.name for argument in macro.args]
        for path in FILES
        for macro in parse((MACROS / path).read_text("utf-8")).find_all(nodes.Macro)
    }
    for one in yaml.safe_load((MACROS / "macros.yml").read_text("utf-8"))["macros"]:
        described = one.get("arguments", [])
        assert [argument["name"] for argument in described] == taken[one["name"]], one["name"]
        for argument in described:
            assert is_valid_type(argument["type"]), (one["name"], argument)


def test_the_house_keeps_its_size() -> None:
    assert len(FILES) <= MOST_FILES
    long = [str(path) for path, text in FILES.items() if len(text.splitlines()) > MOST_LINES]
    assert long == []


def test_code_by_folder() -> None:
    """Printed with `pytest -s`, and where it has grown by more than a change has said."""
    lines: Counter[str] = Counter()
    for path, text in FILES.items():
        lines[path.parts[0]] += sum(1 for line in text.splitlines() if line.strip())
    shown = ", ".join(f"{folder} {lines[folder]}" for folder in ORDER)
    print(f"lines of code under macros: {lines.total()} ({shown})")
    assert lines.total() <= MOST_CODE, shown


def test_macros_are_short() -> None:
    long = {
        found[1]: logic
        for text in FILES.values()
        for found in re.finditer(
            r"\{%-?\s*(?:macro|materialization)\s+(\w+).*?\{%-?\s*end(?:macro|materialization)",
            text,
            re.DOTALL,
        )
        if (logic := sum(line.strip().startswith(IS_LOGIC) for line in found[0].splitlines()))
        > LONG.get(found[1], MOST_LOGIC)
    }
    assert long == {}


def test_lines_of_comments_are_short() -> None:
    """At most 100 characters, also where a comment stands behind code."""
    long = [
        f"{path.relative_to(ROOT)}: {line}"
        for folder in (MACROS, DATA_TESTS)
        for path in sorted(folder.rglob("*.sql"))
        for text in [path.read_text("utf-8").replace("{# -#}", "")]
        for found in re.finditer(r"^[^\n]*?\{#.*?#\}", text, re.DOTALL | re.M)
        for line in found[0].splitlines()
        if len(line) > 100
    ]
    assert long == []


def test_dbt_docs_can_draw_their_tree() -> None:
    """A macro beside a folder of its name ends the script of dbt docs, which then lists nothing."""
    assert not [str(path) for path in FILES if len(path.parts) != 2]


def test_folders_depend_on_those_before_them() -> None:
    wrong = [
        f"{path} uses {name} of {PLACES[name]}"
        for path, names in USES.items()
        for name in sorted(names)  # messages name what users call
        if name in PLACES and name.startswith("_") and place(PLACES[name]) > place(path)
    ]
    assert wrong == []


def place(path: Path) -> int:
    """How late in the order a file's folder comes."""
    return ORDER.index(path.parent.name)


def test_nothing_is_there_that_nobody_uses() -> None:
    used = {name for names in USES.values() for name in names}
    for path in DATA_TESTS.glob("*.sql"):
        used |= set(re.findall(r"\bspark_cdc\.(\w+)\b", path.read_text("utf-8")))
    for path in PACKAGE.rglob("*.py"):  # what the command line asks for
        used |= set(re.findall(r"\b_(?:verify|diff|print)_\w+", path.read_text("utf-8")))
    formats = "_events_"  # found by the format's name
    for name in PLACES:
        assert not name.startswith("_") or name in used or name.startswith(formats), name


def test_only_processes_of_their_own_are_changed() -> None:
    """The rest is a library, for notebooks and tasks of Airflow. Spark takes a JVM from there."""
    changes = re.compile(
        r"os\.(_exit|chdir|putenv|environ\.(update|pop|setdefault)|environ\[.*\] =)"
    )
    found = {
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        if changes.search(path.read_text("utf-8"))
    }
    assert found <= {"cli.py", "stream/job.py", "server/session.py"}


# What dbt v2's engine, which is no Python, has as well; its own list is that of the wheel which
# docs/dbt_versions.md names.
METHODS = {
    *("append", "extend", "insert", "index", "count"),
    *("get", "items", "keys", "values", "update", "pop", "setdefault", "fromkeys"),
    *("split", "rsplit", "partition", "rpartition", "replace", "strip", "lstrip", "rstrip"),
    *("startswith", "endswith", "removeprefix", "removesuffix", "lower"),
    *("isdigit", "isalnum", "isalpha", "isascii"),
    *("strftime", "strptime", "datetime", "timedelta", "now", "date", "total_seconds"),
    *("incorporate", "without_identifier", "create"),
}
FILTERS = {
    *("join", "list", "map", "length", "indent", "lower", "upper", "string", "int", "trim"),
    *("selectattr", "rejectattr", "select", "reject", "unique", "sort", "sum", "max", "min"),
    *("default", "first", "last", "replace", "format", "batch", "reverse", "urlencode"),
}
NAMESPACES = {"spark_cdc", "dbt", "adapter", "exceptions"}


def test_macros_keep_to_what_dbt_v2_understands() -> None:
    parse, found = get_environment(None, capture_macros=True).parse, []
    for path in FILES:
        text = (MACROS / path).read_text("utf-8")
        tree = parse(text)
        for call in tree.find_all(nodes.Call):
            if not isinstance(call.node, nodes.Getattr):
                continue
            method = call.node.attr
            if getattr(call.node.node, "name", "") not in NAMESPACES and method not in METHODS:
                found.append(f"{path}:{call.lineno}: the method {method}()")
        for call in tree.find_all(nodes.Filter):
            named = {argument.key for argument in call.kwargs}
            if call.name not in FILTERS:
                found.append(f"{path}:{call.lineno}: the filter {call.name}")
            if call.name == "sum" and "attribute" in named:
                found.append(f"{path}:{call.lineno}: sum(attribute=): map, then sum")
            if call.name == "default" and any(
                isinstance(value, nodes.Const) and value.value is None for value in call.args
            ):
                found.append(
                    f"{path}:{call.lineno}: default(none) is undefined: (… + [none]) | first"
                )
        for name in tree.find_all(nodes.Getattr):
            if name.attr == "re" and getattr(name.node, "name", "") == "modules":
                found.append(f"{path}:{name.lineno}: modules.re: functions of text")
        for word in re.findall(r"(?<!\\)\\x[0-9a-f]{2}|%\.\d+g|%0?\d*[xX]'", text):
            found.append(f"{path}: {word}: dbt v2 does not know it")
    assert found == []


def test_datetimes_are_compared_by_operators_alone() -> None:
    """The rest is wrong on dbt v2, and fails in all tests that run macros (jinja_of_v2.py)."""
    given = {"a": datetime.datetime(2024, 1, 1), "b": datetime.datetime(2024, 1, 2)}
    environment = get_environment(None)
    for text in (
        "[a, b] | select('lt', b) | list",
        "[{'time': a}] | selectattr('time', 'equalto', b) | list",
        "a is equalto b",
        "[a] | reject('in', [b]) | list",
        "[b, a] | min",
        "[a, b] | max",
        "[[b], [a]] | sort",
        "[b, a] | unique | list",
    ):
        with pytest.raises(TypeError, match="on a datetime, of which dbt v2 knows operators"):
            environment.from_string(f"{{{{ {text} }}}}").render(given)
    assert environment.from_string("{{ a < b, [2, 1] | min }}").render(given) == "(True, 1)"
    for path in FILES:
        text = (MACROS / path).read_text("utf-8")
        assert not re.search(r"\btimes? \| (unique|sort|min|max|select|reject)\b", text), path


# Statements that differ by catalogue: what it knows, what it is told, settings, names of files.
OF_THE_CATALOGUE = re.compile(
    r"(?:^|['\"(])[ \t]*(?:show (?:create|tables?|views|partitions|schemas|tblproperties)|describe|"
    r"explain|msck|refresh table|(?:re)?set [`'\"]?(?:spark|parquet|' ~)|alter (?:table|view)|"
    r"(?:create|drop) (?:view|schema)|drop table|create (?:or replace )?table if|insert overwrite|"
    r"call [a-z{'])\b|using (?:csv|text|binaryFile)\b|\b_metadata[.]|\binput_file_name\(",
    re.M,
)
SAID = {  # texts for people and for plans, which send nothing
    ("operations/state.sql", "create table if"),
    ("operations/state.sql", "alter table"),
    ("operations/verify.sql", "drop table"),
    ("operations/verify.sql", "drop view"),
    ("publish/publish.sql", "create table if"),  # of a published table, as a user's own
    ("ledger/tables.sql", "refresh table"),
    ("files_match_manifest.sql", "alter table"),
    ("utils/sql.sql", "describe"),  # reserved words
    ("utils/sql.sql", "explain"),
}


def test_one_file_knows_the_catalogue() -> None:
    texts = {str(path): text for path, text in FILES.items() if path.name != "platform.sql"}
    for path in DATA_TESTS.glob("*.sql"):
        texts[path.name] = re.sub(r"\{#.*?#\}", "", path.read_text("utf-8"), flags=re.DOTALL)
    found = {
        (path, hit[0].strip("'\"( \t"))
        for path, text in texts.items()
        for hit in OF_THE_CATALOGUE.finditer(text)
    }
    assert sorted(found - SAID) == []
    assert sorted(SAID - found) == []


# Names of formats that mean nothing else, and those that also stand for other things (a load type,
# the kind of a relation, an encoding): these are looked for in comparisons alone.
FORMATS = ({"csv", "parquet", "orc", "avro", "iceberg", "change_feed"}, {"json", "table", "delta"})
CHOSEN = {  # formats that are chosen, not asked for
    ("context/settings.sql", "avro"),  # an encoding of streamed messages
    ("ledger/load.sql", "change_feed"),  # the name of a guard
    ("operations/erase.sql", "csv"),  # a file of keys
    ("operations/erase.sql", "orc"),  # has no smallest and largest token in its footers
    ("utils/platform.sql", "iceberg"),  # how Hive's metastore and a catalog show such a table
    ("utils/spark.sql", "iceberg"),  # the same, for dbt's snapshots
}


def test_two_tables_know_the_formats() -> None:
    parse, found = get_environment(None, capture_macros=True).parse, set()
    for path in FILES:
        if path.name == "formats.sql":
            continue
        tree = parse((MACROS / path).read_text("utf-8"))
        for text in tree.find_all(nodes.Const):
            if isinstance(text.value, str) and text.value in FORMATS[0]:
                found.add((str(path), text.value))
        for compared in tree.find_all(nodes.Compare):
            left = compared.expr
            if "format" not in (getattr(left, "attr", ""), getattr(left, "name", "")):
                continue
            for text in compared.find_all(nodes.Const):
                if text.value in FORMATS[1]:
                    found.add((str(path), text.value))
    assert sorted(found - CHOSEN) == []
    assert sorted(CHOSEN - found) == []
