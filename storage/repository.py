"""What a repository is made of: the database, and whose things it shows."""

from __future__ import annotations

from storage.database import Database
from storage.scopes import Scope

__all__ = ["Repository", "ScopedRepository"]


class Repository:
    """One noun of what is stored, for those who serve all projects.

    Args:
        database: Where it is kept.
    """

    def __init__(self, database: Database) -> None:
        self._database = database


class ScopedRepository(Repository):
    """One noun of what is stored, within a scope.

    A method either narrows its statements by the scope or, where it is handed the identifier of a
    job or of an application, has the scope admit that first.

    Args:
        database: Where it is kept.
        scope: One project, or all of them.
    """

    def __init__(self, database: Database, scope: Scope) -> None:
        super().__init__(database)
        self._scope = scope
