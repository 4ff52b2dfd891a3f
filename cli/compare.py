"""`hamtune compare`: jobs, or two trials of a job, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from cli.beside import figures, reasons
from cli.client import Client, connect
from cli.comparison import Compared, compare_jobs
from cli.console import table_console
from cli.curves import POINTS
from cli.differences import apart, shown
from cli.job_differences import job_file_rows
from cli.job_names import job_argument
from cli.options import example, json_option, print_json, server_option
from cli.trial import get_trial
from searchspace.errors import HamtuneError
from searchspace.units import format_duration
from service.settings import Settings

__all__ = ["COMMANDS"]


def _two_trials(
    _context: click.Context, _parameter: click.Parameter, text: str | None
) -> tuple[int, int] | None:
    if text is None:
        return None
    numbers = text.split(",")
    if len(numbers) != 2 or not all(one.isascii() and one.isdigit() for one in numbers):
        raise click.BadParameter(f"write two numbers, such as 3,17, not '{text}'")
    first, second = map(int, numbers)
    return first, second


@click.command(
    epilog=example(
        "hamtune compare cg-64 cg-64-2",
        "hamtune compare cg-64 mg-64 ft-64 --picture jobs.svg",
        "hamtune compare cg-64 --trials 3,17",
    )
)
@job_argument("jobs", metavar="J...", nargs=-1, required=True)
@click.option(
    "--trials",
    metavar="N,M",
    callback=_two_trials,
    help="Compare two trials of one job instead: what differs, and why one is slower.",
)
@click.option(
    "--picture",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Also draw the convergence of the jobs, as 'hamtune plot' does: a .png or .svg file.",
)
@json_option
@server_option
def compare(
    jobs: tuple[str, ...],
    trials: tuple[int, int] | None,
    picture: Path | None,
    as_json: bool,
    server: str | None,
    settings: Settings,
) -> None:
    """Show jobs side by side: what differs in their job files, and what each has found.

    J is a job's id, or its name if no other job has it.
    """
    if picture is not None and picture.suffix.lower() not in (".png", ".svg"):
        raise click.UsageError(f"--picture {picture}: pictures are .png or .svg files")
    if trials is not None:
        if len(jobs) > 1 or picture is not None:
            raise click.UsageError("--trials compares two trials of one job, without a picture")
        with connect(server, settings) as client:
            _compare_trials(client, client.find_job(jobs[0]), trials, as_json)
        return
    if len(jobs) < 2:
        raise click.UsageError("name two jobs or more, or two trials of one with --trials N,M")
    with connect(server, settings) as client:
        found = [_fetched(client, job) for job in jobs]
    answer = compare_jobs(found)
    if picture is not None:
        _draw(found, picture)
        answer["picture"] = str(picture)
    if as_json:
        print_json(answer)
        return
    table_console().print(_table(answer, [one.spec for one in found]))
    for note in answer["notes"]:
        click.echo(note)
    if picture is not None:
        click.echo(picture)


COMMANDS = [compare]


def _fetched(client: Client, reference: str) -> Compared:
    job = client.find_job(reference)
    path = f"/jobs/{job['id']}"
    best = client.get(f"{path}/best") if job["progress"]["best"] else None
    convergence = client.get(f"{path}/convergence", points=POINTS)
    return Compared(job=job, best=best, convergence=convergence)


def _table(answer: dict[str, Any], specs: Sequence[dict[str, Any]]) -> Table:
    jobs = answer["jobs"]
    names = [job["name"] for job in jobs]
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("", no_wrap=True)
    for job in jobs:
        table.add_column(job["name"] if names.count(job["name"]) == 1 else job["id"])
    for path, words in job_file_rows(answer["job_file"], specs):
        table.add_row(path, *words)
    table.add_section()
    table.add_row("state", *(job["state"] for job in jobs))
    table.add_row("trials", *(str(job["trials"]) for job in jobs))
    table.add_row("best", *(_best(job) for job in jobs))
    if any(job["ratio"] is not None for job in jobs):
        table.add_row("times the fastest", *(_ratio(job["ratio"]) for job in jobs))
    table.add_row("gain over best baseline", *(_ratio(job["speedup"]) for job in jobs))
    for path, values in answer["configuration"].items():
        table.add_row(f"  {path}", *map(shown, values))
    labels = dict.fromkeys(label for job in jobs for label in job["baselines"])
    for label in labels:
        table.add_row(f"baseline {label}", *(_time(job["baselines"].get(label)) for job in jobs))
    for mark in jobs[0]["after"]:
        values = [job["after"][mark] for job in jobs]
        if any(value is not None for value in values):
            table.add_row(f"best after {mark} trials", *map(_time, values))
    table.add_row("CPU time", *(_time(job["cpu_seconds"]) for job in jobs))
    return table


def _best(job: dict[str, Any]) -> str:
    return "-" if job["value"] is None else f"{_time(job['value'])} (trial {job['trial']})"


def _time(seconds: float | None) -> str:
    return "-" if seconds is None else format_duration(seconds)


def _ratio(ratio: float | None) -> str:
    return "-" if ratio is None else f"{ratio:.3g} x"


def _draw(jobs: Sequence[Compared], path: Path) -> None:
    unfinished = [one.job["name"] for one in jobs if one.best is None]
    if unfinished:
        raise HamtuneError(f"job {unfinished[0]!r} has no completed trial yet, so nothing to draw")
    # Matplotlib takes half a second to load, which no other command should pay for.
    from cli.figures import convergence_figure, render

    figure = convergence_figure([one.curve for one in jobs])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(render(figure, "svg" if path.suffix.lower() == ".svg" else "png"))


def _compare_trials(
    client: Client, job: dict[str, Any], numbers: tuple[int, int], as_json: bool
) -> None:
    first, second = (get_trial(client, job, number) for number in numbers)
    differing = apart([first["configuration"], second["configuration"]])
    measured = figures(first, second)
    why = reasons(first, second)
    if as_json:
        print_json(
            {
                "job": job["id"],
                "trials": list(numbers),
                "states": [first["state"], second["state"]],
                "configuration": differing,
                "measured": {one.name: list(one.values) for one in measured},
                "reasons": why,
            }
        )
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("", no_wrap=True)
    for number in numbers:
        table.add_column(f"trial {number}")
    table.add_row("state", first["state"], second["state"])
    for path, values in differing.items():
        table.add_row(path, *map(shown, values))
    for one in measured:
        table.add_row(one.name, *("-" if v is None else one.words(v) for v in one.values))
    table_console().print(table)
    if not differing:
        click.echo("their configurations are the same")
    for line in why:
        click.echo(line)
