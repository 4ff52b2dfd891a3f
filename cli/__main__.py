"""The `hamtune` command: its groups put together, and every failure as one plain line."""

from __future__ import annotations

import atexit
import codecs
import gc
import io
import os
import sys
from types import ModuleType
from typing import cast

import click

from cli.commands import LazyGroup
from cli.harmless import harmless
from cli.interrupts import terminable
from cli.versions import tell_version
from searchspace.errors import HamtuneError, InvalidDocument, InvalidInput

__all__ = ["cli", "main"]

DONE, FAILED, WRONG_USE, INTERRUPTED = 0, 1, 2, 130

EPILOG = """\b
A first job:
  hamtune run examples/quick.yaml             tune to the end, without a server
  hamtune plot quick --output quick/          draw its convergence
  hamtune export quick --format simgrid --output quick/
"""


@click.group(cls=LazyGroup, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=lambda context, option, asked: tell_version(context) if asked else None,
    help="Tell the versions of Hamtune, its engine and the libraries under it.",
)
def cli() -> None:
    """Tune MPI applications and the network they run on, in simulation."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit status.

    Statuses: 0 done, 1 failed, 2 wrong use, 130 interrupted. What went wrong is one line on
    stderr (one for each mistake in a file), after which the end of a failed command's output may
    follow, indented; `HAMTUNE_DEBUG=1` shows the traceback of an internal error.
    """
    _print_anything()
    try:
        with terminable():
            status = cli.main(args=arguments, prog_name="hamtune", standalone_mode=False)
        return DONE if status is None else int(status)
    except SystemExit as ended:  # click's, when it has completed words for a shell
        return int(ended.code or DONE)
    except BrokenPipeError:
        # The reader of our output went away; what Python still buffers must not complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except (Exception, KeyboardInterrupt) as error:
        lines, status = _explain(error)
        for line in lines:
            click.echo(harmless(line), err=True)
        return status


def _print_anything() -> None:
    """Let no character that the terminal does not have end a command in the place of its result."""
    for stream in (sys.stdout, sys.stderr):
        if not isinstance(stream, io.TextIOWrapper):
            continue
        if codecs.lookup(stream.encoding).name != "utf-8" or stream.errors == "strict":
            stream.reconfigure(errors="replace")


def _explain(error: BaseException) -> tuple[list[str], int]:
    """What to tell the user of a failure, a line for each mistake, and the exit status."""
    if isinstance(error, InvalidDocument):
        return [_line(f"hamtune: {mistake}") for mistake in error.errors], WRONG_USE
    log: list[str] = []
    command, message, status = "hamtune", str(error), FAILED
    match error:
        case click.exceptions.NoArgsIsHelpError():
            command = error.ctx.command_path if error.ctx else command
            message, status = f"missing command; '{command} --help' lists them", WRONG_USE
        case click.NoSuchCommand():
            command = error.ctx.command_path if error.ctx else command
            message = f"{error.format_message()} '{command} --help' lists them"
            status = WRONG_USE
        case click.UsageError():
            command = error.ctx.command_path if error.ctx else command
            message, status = error.format_message(), WRONG_USE
        case click.ClickException():
            message = error.format_message()
        case KeyboardInterrupt() | click.Abort():
            message, status = "interrupted", INTERRUPTED
        case InvalidInput():
            message, status = "; ".join(message.splitlines()), WRONG_USE
        case OSError() if error.filename is not None:
            message = f"{error.filename}: {error.strerror}"
        case HamtuneError():
            message, *log = message.splitlines() or [type(error).__name__]
        case _:
            if os.environ.get("HAMTUNE_DEBUG"):
                raise error
            message = (
                f"internal error: {type(error).__name__}: {error} (HAMTUNE_DEBUG=1 shows where)"
            )
    return [_line(f"{command}: {message}"), *(f"    {line.rstrip()}" for line in log)], status


def _line(text: str) -> str:
    return " ".join(text.split())


def _leave(status: list[int]) -> None:
    """End the process without taking the interpreter apart piece by piece."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        return  # the interpreter's own end reports it
    os._exit(status[-1])


if __name__ == "__main__":
    # What is imported stays: to look through it for garbage again and again while it is loaded, and
    # to free it object by object at the end, takes a third of a second.
    gc.set_threshold(100_000, 20, 20)
    statuses = [FAILED]
    atexit.register(_leave, statuses)  # the first one registered is called last
    # To look for plug-ins, pydantic reads what every installed package says of itself.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    # Where it can, httpx loads its own command line, whose libraries take a tenth of a second.
    sys.modules["httpx._main"] = cast(ModuleType, None)
    statuses.append(main())
    gc.freeze()
    sys.exit(statuses[-1])
