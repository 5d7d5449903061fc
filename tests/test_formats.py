"""The same story in every format that files and tables have: one result, to the hash."""

from __future__ import annotations

import gzip

import pytest

from project import Project

pytestmark = [pytest.mark.proves("file formats"), pytest.mark.integration]

COLUMNS = {
    "id": {"data_type": "int", "role": "key"},
    "name": "string",
    "price": "decimal(6,2)",
    "at": {"data_type": "timestamp", "nullable": True},
}
FORMATS = (
    "csv_plain",
    "csv_gzip",
    "csv_odd",
    "json_lines",
    "parquet_files",
    "orc_files",
    "a_table",
)


def typed_rows(date: str, values: str) -> str:
    return (
        "select cast(id as int) as id, name, cast(price as decimal(6, 2)) as price,"
        f" cast(at as timestamp) as at, date'{date}' as business_date"
        f" from values {values} as t(id, name, price, at)"
    )


@pytest.fixture(scope="module")
def formats(project: Project) -> Project:
    """One entity per format; the same story lands in all of them."""
    csv_odd = {
        "sep": ";",
        "quote": "'",
        "escape": "\\",
        "encoding": "ISO-8859-1",
        "multiLine": True,
    }
    project.entity("csv_plain", COLUMNS)
    project.entity("csv_gzip", COLUMNS)
    project.entity("csv_odd", COLUMNS, source={"options": csv_odd})
    project.entity("json_lines", COLUMNS, source={"format": "json"})
    project.entity("parquet_files", COLUMNS, source={"format": "parquet"})
    project.entity("orc_files", COLUMNS, source={"format": "orc"})
    project.entity("a_table", COLUMNS, source={"format": "table", "date_column": "business_date"})

    nothing = typed_rows("2000-01-01", "(0, '', 0, null)")
    project.query(f"create table {{s}}.a_table using parquet as {nothing}")
    for date, name in (("2024-01-01", "Zoë"), ("2024-01-02", "Zoe")):
        lines = [
            "id,name,price,at",
            f"1,{name},1.50,2024-01-01 10:00:00",
            '2,"",,',
            "3,,3,2024-01-01",
        ]
        if date == "2024-01-02":
            lines = ["at,price,name,id", f"2024-01-01T10:00:00Z,1.5,{name},1", ',,"",2']
        project.land("csv_plain", date, *lines)
        folder = project.land("csv_gzip", date)
        (folder / "data.csv").unlink()
        (folder / "data.csv.gz").write_bytes(
            gzip.compress("".join(f"{line}\n" for line in lines).encode())
        )
        folder = project.land("csv_odd", date)
        odd = (
            "\n".join([*lines, ""]).replace('""', "''").replace(",", ";").replace(name, f"'{name}'")
        )
        (folder / "data.csv").write_bytes(odd.encode("latin-1"))
        rows = [
            f'{{"id": 1, "name": "{name}", "price": 1.50, "at": "2024-01-01T12:00:00+02:00"}}',
            '{"id": 2, "name": ""}',
        ]
        values = f"(1, '{name}', 1.5, '2024-01-01 10:00:00+00:00'), (2, '', null, null)"
        if date == "2024-01-01":
            rows.append('{"id": 3, "price": "3", "at": "2024-01-01", "name": null}')
            values += ", (3, null, 3, '2024-01-01 00:00:00+00:00')"
        project.land("json_lines", date, *rows, file="data.json")
        sql = typed_rows(date, values)
        project.query(f"insert into {{s}}.a_table {sql}")
        for entity, format in (("parquet_files", "parquet"), ("orc_files", "orc")):
            project.query(
                f"insert overwrite directory '{project.landing}/{entity}/{date}' using {format}"
                f" select price, id, at, name from ({sql}) as t"
            )
    project.query("set time zone 'UTC'")
    project.load("2024-01-01", *FORMATS)
    first = {
        name: project.rows(f"{name}_current", "id, name, price, at, operation") for name in FORMATS
    }
    project.load("2024-01-02", *FORMATS)
    project.first = first  # type: ignore[attr-defined]
    return project


@pytest.mark.parametrize("entity", FORMATS)
def test_every_format_gives_the_same_tables(formats: Project, entity: str) -> None:
    first = [
        (i, n, str(p) if p is not None else None, str(at) if at else None, o)
        for i, n, p, at, o in formats.first[entity]  # type: ignore[attr-defined]
    ]
    assert first == [
        (1, "Zoë", "1.50", "2024-01-01 10:00:00", "I"),
        (2, "", None, None, "I"),
        (3, None, "3.00", "2024-01-01 00:00:00", "I"),
    ]
    assert formats.rows(f"{entity}_current", "id, name, operation, eff_start_date") == [
        (1, "Zoe", "U", "2024-01-02"),
        (2, "", "N", "2024-01-01"),
    ]
    assert formats.rows(f"{entity}_history", "business_date, operation, id, name") == [
        ("2024-01-01", "I", 1, "Zoë"),
        ("2024-01-01", "I", 2, ""),
        ("2024-01-01", "I", 3, None),
        ("2024-01-02", "D", 3, None),
        ("2024-01-02", "U", 1, "Zoe"),
    ]


def test_hashes_do_not_depend_on_the_format(formats: Project) -> None:
    hashes = {
        name: formats.rows(f"{name}_current", "id, key_hash, nonkey_hash") for name in FORMATS
    }
    assert all(found == hashes["csv_plain"] for found in hashes.values())
    assert all(len(row[1]) == 32 and row[1] == row[1].lower() for row in hashes["csv_plain"])


def test_data_tests_pass_and_columns_keep_their_order(formats: Project) -> None:
    outcome = formats.dbt("test", "--select", "path:models/csv_plain")
    assert outcome.success, outcome.output
    assert len([name for name in outcome.status if "csv_plain" in name]) == 13
    described = [row[0] for row in formats.query("describe {s}.csv_plain_current")]
    assert described == [*COLUMNS, "key_hash", "nonkey_hash", "operation", "eff_start_date"]
    described = [row[0] for row in formats.query("describe {s}.csv_plain_versions")]
    assert described[-3:] == ["eff_start_date", "eff_end_date", "is_current"]


def test_examples_stay_out_of_an_installed_package(formats: Project) -> None:
    outcome = formats.dbt("list", "--exclude", "package:shop")
    names = outcome.output.split()
    assert not [name for name in names if "synthetic" in name or "orders" in name]
    assert "spark_cdc.cdc_loads" in names
