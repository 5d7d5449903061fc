"""dbt v2 parses a consumer of this package, and compiles its models to the SQL of dbt v1."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import dbt_v2

pytestmark = pytest.mark.proves("house")


def test_what_differs_per_run_is_no_difference() -> None:
    one = 'from shop.x where load_id = \'19700101-fc-0123abcd\' /* {"dbt_version": "1.11.16"} */'
    other = (
        one.replace("shop.x", "`shop`.`x`").replace("0123abcd", "f0f0f0f0").replace("11.16", "0")
    )
    wrapped = f"--EPHEMERAL-SELECT-WRAPPER-START\nselect * from (\n{other}\n"
    wrapped += "--EPHEMERAL-SELECT-WRAPPER-END\n)"
    assert dbt_v2.differences({"x": dbt_v2.plain(one)}, {"x": dbt_v2.plain(wrapped)}) == []
    changed = dbt_v2.differences({"x": "select a, b"}, {"x": "select a, c", "y": "select 1"})
    assert changed[0].endswith("-b\n+c") and changed[1] == "y: only one of both has it"


@pytest.mark.integration
def test_models_compile_without_a_server(tmp_path: Path) -> None:
    """Nothing is asked of it where nothing is written, so that both can be compared."""
    dbt_v2.consumer(tmp_path)
    dbt_v2.without_hooks(tmp_path)
    printed, models = dbt_v2.compiled(tmp_path, dbt_v2.DBT_V1, "--no-populate-cache")
    assert len(models) == 19, printed


@pytest.mark.full
def test_both_compile_the_same_sql() -> None:
    """From the registry; tests/dbt_v2.py prints what differs."""
    done = subprocess.run([sys.executable, dbt_v2.__file__], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 differ" in done.stdout
