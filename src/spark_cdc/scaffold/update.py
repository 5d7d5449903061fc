"""`spark-cdc new ENTITY --update`: declare automatically added columns in the YAML."""

from __future__ import annotations

import json
import re

import yaml

from spark_cdc import dbt_runner, project, state
from spark_cdc.errors import SparkCdcError


def run(name: str, *, dry_run: bool) -> int:
    """Add the columns that loads of an entity have added to the YAML of its model."""
    one = state.ask(dbt_runner.Dbt(None), [name], added={})["entities"][0]
    added = one["added"]
    if not added["columns"]:
        print(f"{name}: the YAML has all columns that loads have brought.")
        return 0
    file = project.root() / added["file"]
    text = file.read_text("utf-8") if file.is_file() else ""
    changed = with_columns(text, f"stg_{name}", added["columns"])
    names = ", ".join(added["columns"])
    if changed is None:
        shown = "".join(lines_of(added["columns"], "      ")).rstrip()
        raise SparkCdcError(
            f"{file}: found no list of columns of stg_{name} that could be added to. Nothing was"
            f" written. Add to its columns:\n{shown}"
        )
    if not dry_run:
        file.write_text(changed, "utf-8")
    print(f"{name}: {'would add' if dry_run else 'added'} {names} to {file}")
    return 0


def lines_of(columns: dict[str, str], indent: str) -> list[str]:
    """Return the lines of YAML that declare columns, each a name and a type."""
    return [
        line
        for name, data_type in columns.items()
        for line in (
            f"{indent}- name: {_text(name)}\n",
            f"{indent}  data_type: {_text(data_type)}\n",
        )
    ]


def _text(text: str) -> str:
    return text if re.fullmatch(r"[A-Za-z_][\w()<>:,.]*", text) else json.dumps(text)


def with_columns(text: str, model: str, columns: dict[str, str]) -> str | None:
    """Return a YAML file in which a model has more columns, behind its last one.

    Everything else stays as it is written. None if the model has no list of columns in lines of
    their own.
    """
    listed = _columns_of(yaml.compose(text), model)
    if listed is None or listed.flow_style or not listed.value:
        return None
    lines = text.splitlines(keepends=True)
    if not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    end = _last_line(listed.value[-1])
    while not lines[end].strip():  # a text over several lines ends at what follows it
        end -= 1
    indent = lines[listed.value[-1].start_mark.line].partition("-")[0]
    changed = "".join([*lines[: end + 1], *lines_of(columns, indent), *lines[end + 1 :]])
    before, after = (_names(yaml.safe_load(one), model) for one in (text, changed))
    return changed if after == [*before, *columns] else None


def _last_line(node: yaml.Node) -> int:
    """The line on which a node ends; that of a block is where the next one begins."""
    if isinstance(node, yaml.CollectionNode) and node.value and not node.flow_style:
        last = node.value[-1]
        return _last_line(last[1] if isinstance(last, tuple) else last)
    is_block = isinstance(node, yaml.ScalarNode) and node.style in ("|", ">")
    return int(node.end_mark.line) - (1 if is_block else 0)


def _columns_of(root: yaml.Node | None, model: str) -> yaml.SequenceNode | None:
    models = _value(root, "models")
    for one in models.value if isinstance(models, yaml.SequenceNode) else []:
        name = _value(one, "name")
        if name is not None and name.value == model:
            columns = _value(one, "columns")
            return columns if isinstance(columns, yaml.SequenceNode) else None
    return None


def _value(node: yaml.Node | None, name: str) -> yaml.Node | None:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == name:
                found: yaml.Node = value
                return found
    return None


def _names(root: dict[str, list[dict[str, object]]], model: str) -> list[object]:
    for one in root["models"]:
        if one["name"] == model:
            columns = one["columns"]
            return [column["name"] for column in columns] if isinstance(columns, list) else []
    return []
