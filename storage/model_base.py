"""What all models have in common: the metadata, and JSON that is kept compressed."""

from __future__ import annotations

import json
import zlib
from typing import Any

from sqlalchemy import (
    JSON,
    Dialect,
    LargeBinary,
    MetaData,
    Table,
    Text,
    TypeDecorator,
)
from sqlalchemy.orm import DeclarativeBase

__all__ = ["Base", "CompressedJSON", "pack", "table", "unpack"]


def pack(value: Any) -> bytes:
    """A JSON value as a column of type `CompressedJSON` keeps it."""
    return zlib.compress(json.dumps(value, separators=(",", ":")).encode(), 1)


def unpack(stored: bytes) -> Any:
    """The JSON value that `pack` was given."""
    return json.loads(zlib.decompress(stored))


class CompressedJSON(TypeDecorator[Any]):
    """JSON as a zlib stream: link loads and finish times shrink to about a third."""

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> bytes | None:
        """Compress what goes into the database, unless `pack` has done it."""
        return value if value is None or isinstance(value, bytes) else pack(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:
        """Inflate what comes out of it."""
        return None if value is None else unpack(value)


class Base(DeclarativeBase):
    """The common metadata; constraints have names, so that migrations can address them."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map = {  # noqa: RUF012 (SQLAlchemy reads it from the class)
        dict[str, Any]: JSON(none_as_null=True),
        str: Text,
    }


def table(model: type[Base]) -> Table:
    """The table of a model, for statements that are executed once or more a trial.

    Objects of the ORM cost several times what the statement itself does.
    """
    found = model.__table__
    assert isinstance(found, Table)
    return found
