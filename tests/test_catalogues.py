"""Iceberg's catalogues as the default one: JDBC on PostgreSQL, and REST.

See docs/iceberg_catalogues.md.
`make catalogues` runs this; nothing else does (SPARK_CDC_TEST_CATALOGUES="jdbc rest"), because it
needs PostgreSQL. Commits rest on two promises, which sessions race for here: a name is given once,
and a view's text is replaced as a whole. Then loads and operations are held against what they give
on Hive, and killed.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import scale
from catalogues import Catalogue
from conftest import SERVER
from faults.cells import CELLS
from faults.lab import Lab, Server
from own_servers import served
from project import Project
from spark_cdc.server import local as local_server
from test_faults import (  # these run here too
    test_a_commit_of_a_killed_run_arrives_after_a_later_one,  # noqa: F401
    test_dbt_is_killed,  # noqa: F401
    test_one_stops_between_claim_and_view,  # noqa: F401
    test_the_server_is_killed,  # noqa: F401
    test_two_go_on_at_the_same_moment,  # noqa: F401
)
from test_golden import describe_entities, land
from test_unity import Shop, profile, tell

pytestmark = [pytest.mark.proves("commit and crash"), pytest.mark.catalogues]

SESSIONS, ROUNDS, LOOKS = 4, 25, 20
# what the second of two writers is told, by JDBC and by REST
REFUSED = re.compile("View was updated concurrently|CommitFailedException")


@pytest.fixture(scope="module", params=scale.CATALOGUES)
def catalogue(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Catalogue]:
    made = Catalogue(request.param, tmp_path_factory.mktemp(request.param))
    with contextlib.ExitStack() as stack:
        stack.callback(made.stop)
        made.start()
        yield made


@pytest.fixture(scope="module")
def spark(catalogue: Catalogue) -> Iterator[Server]:
    """A Spark server whose default catalogue it is."""
    made = Server(catalogue.folder / "server", warehouse=catalogue.warehouse, **catalogue.conf)
    with contextlib.ExitStack() as stack:
        stack.callback(made.stop)
        made.start()
        catalogue.prepare(made.port)
        yield made


@pytest.fixture(scope="module")
def lab(spark: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """The lab of test_faults.py, on the catalogue."""
    cells = [cell for cell in CELLS if cell.name in ("snap", "moves")]
    made = Lab(tmp_path_factory.mktemp("lab"), cells, spark)
    with contextlib.closing(made):
        made.record()
        yield made


@pytest.fixture
def cursor(spark: Server) -> Any:
    return spark.cursor()


# ---------------------------------------------------------------- what commits rest on


def at_once(spark: Server, tasks: list[Callable[[Any], None]]) -> list[str]:
    """Run tasks in sessions of their own at the same moment; the errors of those that fail."""
    start, errors = threading.Barrier(len(tasks)), []

    def run(task: Callable[[Any], None]) -> None:
        own = spark.cursor()
        start.wait()
        try:
            task(own)
        except Exception as error:
            errors.append(str(error))

    threads = [threading.Thread(target=run, args=(task,)) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return errors


def text_of(cursor: Any, view: str) -> str:
    cursor.execute(f"show create table {view}")
    text: str = cursor.fetchall()[0][0]
    return text.partition("\nAS\n")[2].strip()


def test_a_name_is_given_once(spark: Server, cursor: Any) -> None:
    """Of several sessions that claim one, one finds its own text there, and none an error."""
    cursor.execute("create schema if not exists race")
    won: list[str] = []

    def claims(session: int) -> Callable[[Any], None]:
        def run(own: Any) -> None:
            for number in range(ROUNDS):
                text = f"select /* session {session} */ {number} as number"
                own.execute(f"create view if not exists race.claim_{number} as {text}")
                if text_of(own, f"race.claim_{number}") == text:
                    won.append(f"{number}")

        return run

    assert at_once(spark, [claims(session) for session in range(SESSIONS)]) == []
    assert sorted(won) == sorted(str(number) for number in range(ROUNDS))


def test_a_view_is_replaced_as_a_whole(spark: Server, cursor: Any) -> None:
    """Readers find one text or the other, at each moment; of two writers one may be refused."""
    loads = ", ".join(f"'20240304T{number:06d}-d-0a935ca6'" for number in range(1000))

    def text(session: int, number: int) -> str:
        mark = f"{session} {number}"
        return f"select /* {mark} é ''\\\\ */ '{mark}' as mark, array({loads}) as loads"

    cursor.execute("create schema if not exists race")
    cursor.execute(f"create or replace view race.shown as {text(0, 0)}")
    ended, read, wrong = threading.Event(), [], []

    def writes(session: int) -> Callable[[Any], None]:
        def run(own: Any) -> None:
            number = 0
            while number < ROUNDS or (len(read) < LOOKS and number < 20 * ROUNDS):
                number += 1
                try:
                    own.execute(f"create or replace view race.shown as {text(session, number)}")
                except Exception as error:
                    assert REFUSED.search(str(error)), error
                    refused.append(number)
                    continue
                written.append((session, number))

        return run

    def reads(own: Any) -> None:
        while not ended.is_set():
            own.execute("select mark, size(loads) from race.shown")
            [(mark, size)] = own.fetchall()
            if size != 1000:
                wrong.append(mark)
            shown = text_of(own, "race.shown")
            found = re.match(r"select /\* (\d) (\d+) ", shown)
            if not found or shown != text(int(found[1]), int(found[2])):
                wrong.append(shown[:300])
            read.append(mark)

    refused: list[int] = []
    written: list[tuple[int, int]] = []
    readers = threading.Thread(target=lambda: wrong.extend(at_once(spark, [reads, reads])))
    readers.start()
    errors = at_once(spark, [writes(1), writes(2)])
    time.sleep(0.5)
    ended.set()
    readers.join()
    assert (errors, wrong) == ([], [])
    assert len(read) >= LOOKS and len(written) >= ROUNDS
    # what is there at the end is what a session was told that it had written
    assert text_of(cursor, "race.shown") in {text(*one) for one in written}


# ---------------------------------------------------------------- loads and operations


@pytest.fixture(scope="module")
def project(spark: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """Somebody's dbt project on the catalogue."""
    with contextlib.closing(local_server.connect(spark.port)) as connection:
        yield shop(tmp_path_factory.mktemp("shop"), spark.port, connection)


def shop(folder: Path, port: int, connection: Any) -> Project:
    """The project of the story, without its entity with a sensitive column: Iceberg has none."""
    cursor = connection.cursor()
    cursor.execute("create schema if not exists shop")
    made = Project(folder, port, "shop", cursor)
    profile(made)
    describe_entities(made)
    shutil.rmtree(made.folder / "models" / "people")
    land(made)
    return made


ON_HIVE: dict[str, Any] = {}  # what the story gives there, once for all catalogues


def test_a_story_gives_the_rows_that_it_gives_on_hive(
    project: Project,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def told(of: Project) -> dict[str, Any]:
        of.serve_commands(monkeypatch)
        made = Shop(of, capsys)
        tell(made)
        return made.seen

    found = told(project)
    if not ON_HIVE:
        with served(tmp_path / "hive", memory="2g", conf=SERVER[:2], formats=["iceberg"]) as (
            port,
            connection,
        ):
            ON_HIVE.update(told(shop(tmp_path / "shop", port, connection)))
    assert list(found) == list(ON_HIVE)
    for step, rows in ON_HIVE.items():
        assert found[step] == rows, step


def test_a_published_table_follows_its_entity(project: Project) -> None:
    columns = {"id": {"data_type": "int", "role": "key"}, "name": "string"}
    project.entity("goods", columns)
    changes = project.folder / "models" / "goods" / "goods_changes.sql"
    changes.write_text("{{ spark_cdc.changes() }}\n", "utf-8")
    published = project.folder / "models" / "published" / "goods_table.sql"
    published.parent.mkdir()
    published.write_text("{{ spark_cdc.publish('goods', 'iceberg') }}\n", "utf-8")

    def publishes(*rows: tuple[int, str]) -> None:
        done = project.dbt("run", "--select", "path:models/published")
        assert done.success, done.output
        assert project.rows("goods_table", "id, name") == sorted(rows)

    for date, rows in (("2024-03-01", [(1, "a"), (2, "b")]), ("2024-03-02", [(1, "c"), (3, "d")])):
        project.land("goods", date, "id,name", *(f"{key},{name}" for key, name in rows))
        project.load(date, "goods")
        publishes(*rows)
    undone = project.operate("undo", entities="goods", to="2024-03-01")
    assert undone.success, undone.output
    publishes((1, "a"), (2, "b"))


def test_entities_load_side_by_side(project: Project) -> None:
    """All write cdc_loads, a table of Iceberg here, at the same time."""
    names = [f"side_{number}" for number in range(6)]
    project.profile(threads=len(names))
    for name in names:
        project.entity(name, {"id": {"data_type": "int", "role": "key"}})
        for day in (1, 2, 3):
            project.land(name, f"2024-03-0{day}", "id", *map(str, range(day)))
    for day in (1, 2, 3):
        project.load(f"2024-03-0{day}", *names)
    logged = project.query(
        "select entity, count(*), max(rows_current) from {s}.cdc_loads"
        " where entity like 'side_%' group by entity order by entity"
    )
    assert logged == [(name, 3, 3) for name in names]
