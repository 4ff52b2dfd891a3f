"""Migrations carry data along: from every earlier revision, with rows in every table of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import (
    JSON,
    Boolean,
    Connection,
    Float,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    insert,
    inspect,
    select,
)

from storage import schema
from storage.database import Database
from storage.storage import Storage

VERSIONS = Path(schema.__file__).parents[1] / "migrations" / "versions"
REVISIONS = sorted(path.name.partition("_")[0] for path in VERSIONS.glob("[0-9]*.py"))
SPECIAL = {"state": "completed", "kind": "search", "status": "completed", "project": "default"}


@pytest.fixture(params=["sqlite", "postgresql"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], Database]]:
    """Makes empty databases."""
    made: list[Database] = []

    def database() -> Database:
        if request.param == "sqlite":
            url = f"sqlite:///{tmp_path}/{len(made)}.db"
        else:
            url = request.getfixturevalue("create_database")()
        made.append(Database(url))
        return made[-1]

    yield database
    for one in made:
        one.close()


def fill(connection: Connection) -> dict[str, dict[str, Any]]:
    """Put a row into every table as it is; the rows by table."""
    metadata = MetaData()
    metadata.reflect(connection)
    rows: dict[str, dict[str, Any]] = {}
    for table in metadata.sorted_tables:
        if table.name == "alembic_version":
            continue
        row = {column.name: value_of(table, column.name) for column in table.columns}
        if table.name == "projects":
            row["name"] = "another"
        connection.execute(insert(table), [row])
        rows[table.name] = row
    return rows


def value_of(table: Table, name: str) -> Any:
    column = table.columns[name]
    for key in column.foreign_keys:
        return (
            "default"
            if key.column.table.name == "projects"
            else value_of(key.column.table, key.column.name)
        )
    if name in SPECIAL and not isinstance(column.type, Integer):
        return SPECIAL[name]
    match column.type:
        case Boolean():
            return True
        case JSON():
            return {"nodes": 4, "é": [1.5, None]}
        case Integer():
            return 1
        case Float():
            return 1.5
        case LargeBinary():
            return b"\x78\x9c\xab\x56\x4a\xce\xcf\x2d"
        case _:
            return f"{table.name[:6]}-{name}"[: getattr(column.type, "length", None) or 60]


@pytest.mark.parametrize("revision", REVISIONS[:-1])
def test_rows_of_every_earlier_revision_arrive(make: Callable[[], Database], revision: str) -> None:
    database = make()
    schema.upgrade(database, revision)
    with database.migrating() as connection:
        before = fill(connection)
    schema.upgrade(database)

    with database.engine.connect() as connection:
        metadata = MetaData()
        metadata.reflect(connection)
        assert set(before) <= set(metadata.tables)
        for name, row in before.items():
            table = metadata.tables[name]
            found = connection.execute(select(table)).mappings().all()
            arrived = next(dict(one) for one in found if matches(one, row))
            assert {key: arrived[key] for key in row if key in arrived} == {
                key: value for key, value in row.items() if key in arrived
            }
            assert set(row) <= set(arrived), f"{name} lost a column"
            for column in ("project",):
                if column in arrived and column not in row and name != "projects":
                    assert arrived[column] == "default"
        assert "projects" in inspect(connection).get_table_names()


def matches(found: Any, row: dict[str, Any]) -> bool:
    key = "id" if "id" in row else "key" if "key" in row else "name" if "name" in row else "job_id"
    return bool(found[key] == row[key])


def test_what_was_there_is_found_by_the_repositories(
    make: Callable[[], Database], tmp_path: Path
) -> None:
    database = make()
    schema.upgrade(database, REVISIONS[0])
    with database.migrating() as connection:
        rows = fill(connection)
    url = database.engine.url.render_as_string(hide_password=False)
    storage = Storage.open(url, str(tmp_path / "artifacts"))
    storage.upgrade()
    job = storage.jobs.get(rows["jobs"]["id"])
    assert (job.project, job.owner, job.spec) == ("default", None, rows["jobs"]["spec"])
    assert storage.applications.get(rows["applications"]["id"]).state == "ready"
    assert storage.machines.get(rows["machines"]["id"]).project == "default"
    assert [event.job_id for event in storage.events.after(0)] == [rows["events"]["job_id"]]
    storage.close()
