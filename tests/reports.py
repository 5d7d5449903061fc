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
    "rejected_share": 0.1,
    "min_rows": 100,
    "min_deleted": 10,
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
    """What report.figures() says of an entity: all committed rows count, unless `more` says."""
    counted = [row["load_id"] for row in rows if row["status"] == "committed"]
    return {
        "entity": entity,
        "broken": None,
        "log": json.dumps({name: [row[name] for row in rows] for name in NAMES}),
        "load_type": "full",
        "per": "date",
        "expected_every": None,
        "guards": GUARDS,
        "loads": counted,
        "undone": [],
        "rows": rows[-1]["rows_current"] if rows else 0,
        "checkpoint": counted[-1] if counted else None,
        "maintenance": {"compact_loads": 100, "retention_hours": 168},
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
        lines.append(line(f"entity_{number:03d}", rows, expected_every="daily"))
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
    project.entity("parts", PARTS, expected_every="daily", rules=rules, **quarantine)
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


NAMES_OF_SHOP = (
    *("addresses", "customers", "invoices", "lines", "orders", "payments", "items", "stock"),
    "customer_loyalty_programme_memberships_and_cancellations_by_region",
)
NOW = dt.datetime(2024, 6, 29, 9)  # of the story; its last date is the day before


def story(entities: int = 8, loads: int = 180) -> list[dict[str, Any]]:
    """Entities of a shop with so many daily loads up to now.

    `orders` ends with a refused load, `stock` is stale, `payments` misses dates, `invoices` has
    rejected rows, `lines` broken rules, `customers` a schema change.
    """
    chance = random.Random(7)
    names = [*NAMES_OF_SHOP, *(f"feed_{number:02d}" for number in range(entities))][:entities]
    return [
        line(
            name,
            _story_of(chance, name, 4_000 * (place % 8 + 2) ** 2, loads),
            expected_every="daily",
        )
        for place, name in enumerate(names)
    ]


def _story_of(chance: random.Random, name: str, size: int, loads: int) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    current = 0
    for place in range(loads):
        left = loads - place  # 1: the last
        moment = NOW.date() - dt.timedelta(days=left)
        if (name == "payments" and left in (50, 119, 120)) or (name == "stock" and left < 4):
            continue
        busy = (1.5 if moment.weekday() < 5 else 0.4) * (1 + place / 300)
        inserted, updated, deleted = (
            int(current * share * busy * chance.uniform(0.7, 1.3))
            for share in (0.004, 0.011, 0.002)
        )
        if not rows:
            inserted = size
        if name == "orders" and left == 5:
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
            "committed_at": int(moment.strftime("%s")) + 86_400 + chance.randrange(4_000),
            "duration_seconds": round(6 + current / 20_000 * chance.uniform(0.9, 1.4), 1),
            "input_files": 1 + current // 100_000,
            "input_bytes": 61 * current,
        }
        if name == "lines":
            broken = {"quantity_positive": chance.randrange(3), "item_known": left % 40 == 1}
            figures["rules"] = [
                {"rule": rule, "action": "warn", "judged": current, "broken": int(count)}
                for rule, count in broken.items()
            ]
        if name == "customers" and left == 2:
            figures["definition_change"] = "added region compared string; dropped fax"
        rows.append(load(moment.isoformat(), f"{chance.randrange(16**8):08x}", **figures))
    if name == "orders" and rows:
        message = (
            "orders: a guard stops the load of 2024-06-28.\n    - empty: the snapshot is empty,"
            f" and all {current} rows would be deleted\nNothing was committed. If the data is"
            " wrong, correct it and run the same command again."
        )
        refusal = {"status": "refused", "guard": "empty", "message": message}
        rows[-1] = load("2024-06-28", "5d0c11fe", **refusal, rows_current=current)
    return rows


def details(name: str) -> dict[str, Any]:
    """The part details of the macro state: of an invoice's last load, rejected rows and files."""
    differences = [
        {"column_name": "status", "value_before": "open", "value_after": "paid"},
        {"column_name": "paid_at", "value_after": "2024-06-27 18:02:11"},
    ]
    reasons = {
        "amount": ("amount: '12,5O' is no decimal(12,2)", "4711,12,5O,EUR,2024-06-27"),
        "due_date": ("due_date: '2024-02-30' is no date", "4712,99.90,EUR,2024-02-30"),
    }
    kinds = list(reasons.items())
    return {
        "changes": {
            "load_id": "20240628-f-5d0c11fe",
            "counts": {"added": 151, "removed": 64, "changed": 402},
            "columns": {"status": 391, "paid_at": 388, "amount": 14},
            "rows": [
                {
                    "row_difference": "changed",
                    "keys": {"invoice_no": f"R-2024-{number:06d}"},
                    "column_differences": differences,
                }
                for number in (88, 89, 91)
            ],
        },
        "files": [
            {"table": f"{name}_ledger", "is_needed": True, "files": 912, "bytes": 41_300_000},
            {"table": f"{name}_ledger", "is_needed": False, "files": 14, "bytes": 602_000},
        ],
        "rejects": [
            {"columns": "amount", "row_count": 41},
            {"columns": "due_date", "row_count": 13},
        ],
        "rejected_rows": [
            {
                "load": f"202406{27 - number // 3:02d}-f-0000{number:04x}",
                "columns": kinds[number % 5 // 3][0],
                "rules": "",
                "reason": kinds[number % 5 // 3][1][0],
                "row": kinds[number % 5 // 3][1][1],
            }
            for number in range(54)
        ],
        "compact": 149,
    }
