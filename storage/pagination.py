"""Listings by pages, newest first: the cursor is the id of the last item shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from sqlalchemy import Select
from sqlalchemy.orm import InstrumentedAttribute, Session

from searchspace.errors import InvalidInput
from storage.identifiers import ID_LENGTH
from storage.records import Page

__all__ = ["MAX_LIMIT", "check_limit", "newest_first"]

MAX_LIMIT = 1000

Row = TypeVar("Row")
Record = TypeVar("Record")


def check_limit(limit: int) -> None:
    """Refuse page sizes outside 1 to 1000.

    Raises:
        InvalidInput: The limit is out of range.
    """
    if not 1 <= limit <= MAX_LIMIT:
        raise InvalidInput(f"{limit} is not a page size; use 1 to {MAX_LIMIT}", field="limit")


def newest_first(
    session: Session,
    statement: Select[Row],
    identifier: InstrumentedAttribute[str],
    record: Callable[[Row], Record],
    *,
    limit: int,
    cursor: str | None,
) -> Page[Record]:
    """One page of a statement's rows. Items added meanwhile never shift what follows.

    Raises:
        InvalidInput: The limit is out of range or the cursor is not one.
    """
    check_limit(limit)
    if cursor is not None:
        if len(cursor) != ID_LENGTH or not cursor.isalnum():
            raise InvalidInput("use the cursor that the previous page gave", field="cursor")
        statement = statement.where(identifier < cursor)
    rows: list[Any] = list(session.scalars(statement.order_by(identifier.desc()).limit(limit + 1)))
    following = str(rows[limit - 1].id) if len(rows) > limit else None
    return Page(items=[record(row) for row in rows[:limit]], cursor=following)
