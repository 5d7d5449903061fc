"""Automatically added columns, declared in a YAML file that people have formatted."""

from __future__ import annotations

import pytest
import yaml

from spark_cdc.scaffold.update import with_columns

pytestmark = [pytest.mark.proves("command line")]

TEXT = """\
# entities
models:
  - name: stg_other
    columns: [{name: a, data_type: int}]
  - name: stg_orders   # ours
    columns:
      - name: id
        data_type: bigint
        config: {meta: {role: key}}
      - name: note
        data_type: string   # free text
        description: |
          What people
          write.

      # the end of the columns

  - name: orders_current
    columns:
      - {name: id}
"""


def test_columns_stand_behind_the_last_one_and_nothing_else_changes() -> None:
    changed = with_columns(TEXT, "stg_orders", {"zip": "decimal(10,2)", "a b": "array<string>"})
    added = (
        "      - name: zip\n        data_type: decimal(10,2)\n"
        '      - name: "a b"\n        data_type: array<string>\n'
    )
    assert changed == TEXT.replace("          write.\n", f"          write.\n{added}")
    assert changed is not None
    columns = yaml.safe_load(changed)["models"][1]["columns"]
    assert [column["name"] for column in columns] == ["id", "note", "zip", "a b"]


@pytest.mark.parametrize(
    ("columns", "last"),
    [
        ("  - {name: id, data_type: int}", "- {name: id, data_type: int}"),
        ("  - name: id\n    data_type: int\n", "data_type: int"),
        ("  - name: id\n    meta:\n      a: [1,\n        2]\n  name: other\n", "2]"),
        ("  - name: id\n    description: >\n      a\n\n      b\n\n\n", "b"),
    ],
)
def test_other_forms_of_yaml(columns: str, last: str) -> None:
    text = f"models:\n- name: stg_x\n  columns:\n{columns}"
    changed = with_columns(text.replace("  name: other", "  config: {}"), "stg_x", {"zip": "int"})
    assert changed is not None
    assert f"{last}\n  - name: zip\n    data_type: int\n" in changed


@pytest.mark.parametrize("text", [TEXT.replace("stg_orders", "x"), "", "models: []"])
def test_what_cannot_be_added_to_is_left_alone(text: str) -> None:
    assert with_columns(text, "stg_orders", {"zip": "int"}) is None
    assert with_columns(TEXT, "stg_other", {"zip": "int"}) is None
