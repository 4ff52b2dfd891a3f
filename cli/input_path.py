"""What commands read by its name, as a type of their arguments and options."""

from __future__ import annotations

import os
from pathlib import Path

import click

from searchspace.errors import InvalidInput
from searchspace.formats.plain_file import check_plain

__all__ = ["InputPath"]


class InputPath(click.Path[Path]):
    """What a command reads by its name: there, and no pipe, device or socket.

    Args:
        read_once: Whether it is read once from start to end, as `check_plain` takes it.
        dir_okay: Whether it may be a directory.
        allow_dash: Whether `-` stands for stdin.
    """

    def __init__(
        self, *, read_once: bool = False, dir_okay: bool = False, allow_dash: bool = False
    ) -> None:
        super().__init__(exists=True, dir_okay=dir_okay, allow_dash=allow_dash, path_type=Path)
        self._read_once = read_once

    def convert(
        self,
        value: str | os.PathLike[str],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Path:
        """The path; another kind of file than asked for is wrong use."""
        path = super().convert(value, param, ctx)
        try:
            if not (self.allow_dash and str(path) == "-"):
                check_plain(path, read_once=self._read_once)
        except InvalidInput as error:
            self.fail(error.message, param, ctx)
        return path
