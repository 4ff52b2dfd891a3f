"""The files that runs of a captured program left: a list of them, or themselves in a directory."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

import click

from cli.client import Client
from cli.options import print_json, say
from searchspace.errors import InvalidInput
from searchspace.units import format_size

__all__ = ["check_writable", "differs", "say_replaced", "show_files", "write_below"]


def show_files(client: Client, path: str, output: Path | None, *, as_json: bool) -> None:
    """List the files of an application, or fetch them.

    Args:
        client: Where it is.
        path: Of its list of files.
        output: The directory to write them to; None where they are only listed.
        as_json: Whether to answer the list as JSON.

    Raises:
        InvalidInput: There is no room for one of them in the directory.
        HamtuneError: It has none.
    """
    listing: dict[str, Any] = client.get(path)
    if output is not None:
        for file in listing["files"]:
            write_below(output, file["path"], client.download(f"{path}/{quote(file['path'])}"))
    if as_json:
        print_json(listing)
        return
    for file in listing["files"]:
        click.echo(f"{format_size(file['bytes']):>12}  {file['path']}")
    for file in listing["left_out"]:
        say(f"hamtune: not kept: {file['path']} ({format_size(file['bytes'])})")
    if not listing["files"] and not listing["left_out"]:
        say("hamtune: the runs left no files")
    elif output is not None:
        say(f"hamtune: {len(listing['files'])} files are in {output}")


def write_below(directory: Path, name: str, content: bytes) -> None:
    """Write a file below a directory, wherever a hostile service or program says it should go.

    Where another file is replaced by that, stderr tells.

    Raises:
        InvalidInput: It cannot be written, or its name leads elsewhere.
    """
    parts = PurePosixPath(name).parts
    target = directory.joinpath(*parts)
    if ".." in parts or PurePosixPath(name).is_absolute():
        raise InvalidInput(f"a file of this name leads out of the directory: {name}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        was_other = differs(target, content)
        target.write_bytes(content)
    except OSError as error:
        raise InvalidInput(f"{directory}: cannot write {name}: {error.strerror}") from None
    if was_other:
        say_replaced([target])


def check_writable(path: Path, option: str) -> None:
    """Check that a file can be written, before the work whose outcome it is to hold.

    Args:
        path: The file; there already or not.
        option: By which it was named.

    Raises:
        InvalidInput: It cannot be written, or made.
    """
    if path.exists():
        if not os.access(path, os.W_OK):
            raise InvalidInput(f"{option} {path}: cannot be written; name another file")
        return
    if not path.parent.is_dir():
        raise InvalidInput(f"{option} {path}: there is no directory {path.parent}; make it first")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise InvalidInput(
            f"{option} {path}: no file can be made in {path.parent}; name another directory"
        )


def differs(path: Path, content: bytes) -> bool:
    """Whether there is another file of that name."""
    if not path.is_file():
        return False
    return path.stat().st_size != len(content) or path.read_bytes() != content


def say_replaced(paths: list[Path]) -> None:
    """Tell which files were there before and are gone."""
    if paths:
        say(f"hamtune: warning: replaced what was in {', '.join(map(str, paths))}")
