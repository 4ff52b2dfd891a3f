"""What a repository is made of: the database, and whose things it shows."""

from __future__ import annotations

from storage.database import Database
from storage.scopes import EveryProject, Scope

__all__ = ["ForAllProjects", "Repository", "ScopedRepository"]


class Repository:
    """One noun of what is stored.

    One that is not scoped either serves all projects or shows a project nothing that is anybody's.

    Args:
        database: Where it is kept.
    """

    def __init__(self, database: Database) -> None:
        self._database = database


class ScopedRepository(Repository):
    """One noun of what is stored, within a scope.

    A method that projects are offered either narrows its statements by the scope or, where it is
    handed the identifier of a job or of an application, has the scope admit that first. What
    `ForAllProjects` adds does neither.

    Args:
        database: Where it is kept.
        scope: One project, or all of them.
    """

    def __init__(self, database: Database, scope: Scope) -> None:
        super().__init__(database)
        self._scope = scope


class ForAllProjects(ScopedRepository):
    """A scoped repository with methods for those who serve all projects.

    These neither narrow nor admit, so that no scope but that of all projects will do.

    Args:
        database: Where it is kept.
        scope: All projects.
    """

    def __init__(self, database: Database, scope: EveryProject) -> None:
        super().__init__(database, scope)
