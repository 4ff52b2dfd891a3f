"""How Alembic reaches the database: by the connection it is handed, or by `-x url=...`."""

from __future__ import annotations

from alembic import context
from sqlalchemy import Connection

from storage.database import Database
from storage.models import Base


def run(connection: Connection) -> None:
    """Run the migrations that Alembic chose, in the transaction of the connection."""
    context.configure(
        connection=connection,
        target_metadata=Base.metadata,
        render_as_batch=connection.dialect.name == "sqlite",
        transactional_ddl=True,
        compare_server_default=True,
    )
    context.run_migrations()


handed = context.config.attributes.get("connection")
if handed is not None:
    run(handed)
else:
    database = Database(context.get_x_argument(as_dictionary=True)["url"])
    with database.migrating() as opened:
        run(opened)
    database.close()
