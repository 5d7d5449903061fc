"""What spark-cdc report gets of dbt, made up: for tests that need no Spark."""

from __future__ import annotations

import datetime as dt
import json
import random
from typing import Any

NAMES = (
    *("load_id", "business_time", "load_type", "status", "is_checkpoint", "replaced_load_ids"),
    *("rows_in", "rows_rejected", "rows_inserted", "rows_updated", "rows_deleted"),
    *("rows_unchanged", "rows_not_supplied", "rows_prior", "rows_current", "started_at"),
    *("committed_at", "duration_seconds", "events_late", "guard", "message"),
    *("definition_change", "input_files", "input_bytes", "rules"),
)
GUARDS = {
    "empty": "refuse",
    "deleted_share": 0.5,
    "updated_share": 0.95,
    "inserted_share": 10,
    "rows_band": [0.2, 5],
    "rejects": 1000,
    "rejected_share": 0.1,
    "min_rows": 100,
}


def load(time: str, attempt: str = "00000001", **more: Any) -> dict[str, Any]:
    """A row of cdc_loads: a full load of 1,000 rows, one of each operation, unless `more` says."""
    stamp = time.replace("-", "").replace(":", "").replace(" ", "T")
    kind = {"full": "f", "delta": "d", "compact": "h", "undo": "u"}[more.get("load_type", "full")]
    row = dict.fromkeys(NAMES) | {
        "load_id": f"{stamp}-{kind}-{attempt}",
        "business_time": time,
        "load_type": "full",
        "status": "committed",
        "is_checkpoint": False,
        "rows_in": 1000,
        "rows_rejected": 0,
        "rows_inserted": 1,
        "rows_updated": 1,
        "rows_deleted": 1,
        "rows_unchanged": 998,
        "rows_not_supplied": 0,
        "rows_prior": 1000,
        "rows_current": 1000,
        "started_at": 1_700_000_000,
        "committed_at": 1_700_000_005,
        "duration_seconds": 5.0,
        "input_files": 1,
        "input_bytes": 20_000,
    }
    return row | more


def line(entity: str, rows: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    """A line of _print_report: all committed rows count, unless `more` says."""
    counted = [row["load_id"] for row in rows if row["status"] == "committed"]
    return {
        "entity": entity,
        "schema": "shop",
        "broken": None,
        "log": json.dumps({name: [row[name] for row in rows] for name in NAMES}),
        "load_type": "full",
        "per": "date",
        "expect": None,
        "guards": GUARDS,
        "loads": counted,
        "undone": [],
        "rows": rows[-1]["rows_current"] if rows else 0,
        "checkpoint": counted[-1] if counted else None,
        "log_loads": 0,
        "log_rows": 0,
    } | more


def many(entities: int, loads: int) -> list[dict[str, Any]]:
    """Entities with daily loads, whose figures are as random as those of a busy warehouse."""
    chance = random.Random(1)
    lines = []
    for number in range(entities):
        rows = []
        for day in range(loads):
            time = (dt.date(2024, 1, 1) + dt.timedelta(days=day)).isoformat()
            names = ("rows_inserted", "rows_updated", "rows_deleted")
            figures = {name: chance.randrange(5_000) for name in names}
            figures["rows_unchanged"] = chance.randrange(10_000_000)
            rows.append(
                load(
                    time,
                    f"{chance.randrange(16**8):08x}",
                    **figures,
                    rows_in=chance.randrange(10_000_000),
                    rows_current=chance.randrange(10_000_000),
                    committed_at=1_700_000_000 + 86_400 * day + chance.randrange(9_000),
                    duration_seconds=chance.randrange(3_000) / 10,
                    input_files=chance.randrange(1, 40),
                    input_bytes=chance.randrange(10**10),
                    rows_rejected=chance.choice([0, 0, 0, chance.randrange(900)]),
                )
            )
        refused = {"status": "refused", "guard": "deleted_share", "message": "a guard stops " * 40}
        for day in chance.sample(range(loads), loads // 20):
            row = rows[day]
            rows.append(load(row["business_time"], f"{chance.randrange(16**8):08x}", **refused))
        rows.sort(key=lambda row: (row["business_time"], row["status"] == "committed"))
        lines.append(line(f"entity_{number:03d}", rows, expect="daily"))
    return lines


EVIL = "</script><script>document.title = 'run'</script>"
PARTS = {
    "id": {"data_type": "int", "role": "key"},
    "name": "string",
    "price": "decimal(9,2)",
}


def load_shop(project: Any) -> None:
    """Load `parts`, in which all needs attention; `bare` is never loaded, `torn` loses its ledger.

    The last load of parts adds one row, removes one and changes two, one of them to a script.
    """
    quarantine = {"on_reject": "quarantine", "guards": {"min_rows": 1, "deleted_share": 0.6}}
    rules = {"cheap": {"condition": "price < 15"}}
    project.entity("parts", PARTS, expect="daily", rules=rules, **quarantine)
    project.entity("bare", PARTS)
    project.entity("torn", PARTS)
    project.land("torn", "2024-03-01", "id,name,price", "1,bolt,1.00")
    first = [f"{number},part {number},{number}.50" for number in range(1, 21)]
    project.land("parts", "2024-03-01", "id,name,price", *first)
    project.land("parts", "2024-03-02", "id,name,price", *first[:-1], "20,bolt,1.00", "21,x,dear")
    project.load("2024-03-01", "parts", "torn")
    project.query("drop table {s}.torn_ledger")
    project.load("2024-03-02", "parts")
    project.load("2024-03-02", "parts")
    changed = ["1,part 1,9.99", *first[2:-1], f"20,{EVIL},2.00", "22,nut,0.10"]
    project.land("parts", "2024-03-04", "id,name,price", *changed)
    project.load("2024-03-04", "parts")
    project.land("parts", "2024-03-05", "id,name,price", *first[:2])
    assert not project.run("2024-03-05", "parts").success


def story() -> list[dict[str, Any]]:
    """A shop's eight entities with half a year of loads, for the pictures of docs/report.md."""
    chance = random.Random(7)
    names = ("addresses", "customers", "invoices", "lines", "orders", "payments", "items", "stock")
    lines = []
    for number, name in enumerate(names):
        rows = []
        current = 4_000 * (number + 2) ** 2
        for day in range(180):
            moment = dt.date(2024, 1, 1) + dt.timedelta(days=day)
            if (name == "payments" and day in (60, 61, 130)) or (name == "stock" and day > 176):
                continue
            busy = (1.5 if moment.weekday() < 5 else 0.4) * (1 + day / 300)
            inserted, updated, deleted = (
                int(current * share * busy * chance.uniform(0.7, 1.3))
                for share in (0.004, 0.011, 0.002)
            )
            if name == "orders" and day == 175:
                deleted = int(0.43 * current)
            prior, current = current, current + inserted - deleted
            figures: dict[str, Any] = {
                "rows_inserted": inserted,
                "rows_updated": updated,
                "rows_deleted": deleted,
                "rows_unchanged": prior - updated - deleted,
                "rows_in": current,
                "rows_prior": prior,
                "rows_current": current,
                "rows_rejected": chance.choice([0] * 9 + [3]) if name == "invoices" else 0,
                "committed_at": 1_704_163_600 + 86_400 * day + chance.randrange(4_000),
                "duration_seconds": round(6 + current / 20_000 * chance.uniform(0.9, 1.4), 1),
                "input_files": 1 + current // 100_000,
                "input_bytes": 61 * current,
            }
            rows.append(load(moment.isoformat(), f"{chance.randrange(16**8):08x}", **figures))
        if name == "orders":
            message = (
                "orders: a guard stops the load of 2024-06-28.\n    - empty: the snapshot is empty,"
                f" but {current} rows exist: all of them would be deleted"
            )
            refusal = {"status": "refused", "guard": "empty", "message": message}
            rows[-1] = load("2024-06-28", "5d0c11fe", **refusal, rows_current=current)
        lines.append(line(name, rows, expect="daily"))
    return lines
