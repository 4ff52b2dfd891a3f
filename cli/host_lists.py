"""The names of hosts as an option: a file with them, or the list itself."""

from __future__ import annotations

from pathlib import Path

import click

from cli.input_path import InputPath
from searchspace.errors import InvalidInput
from searchspace.formats.host_list import expand

__all__ = ["HostList"]


class HostList(click.ParamType[str]):
    """A text that names hosts: that of a file, or `n[01-64]` and `a,b` as it stands."""

    name = "hosts"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The text; a file wins over a list of the same name."""
        if not Path(value).exists() and ("[" in value or "," in value):
            try:
                expand(value)
            except InvalidInput as error:
                self.fail(error.message, param, ctx)
            return value
        path = InputPath(read_once=True).convert(value, param, ctx)
        try:
            return path.read_text(encoding="utf-8-sig")
        except UnicodeDecodeError:
            self.fail(f"{path} is not a text file", param, ctx)
