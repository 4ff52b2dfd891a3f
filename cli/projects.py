"""Projects: what each may use of the service, and what it has used."""

from __future__ import annotations

from typing import Any

import click
from rich.table import Table

from cli.console import table_console
from cli.keys import administered, administration_option, seconds_of
from cli.options import example, finite, json_option, print_json
from searchspace.errors import InvalidInput
from searchspace.units import format_size, parse_size
from service.settings import Settings

__all__ = ["COMMANDS"]

_NONE = "none"


class _Quota(click.ParamType[Any]):
    """A number of something, or `none` to lift the quota."""

    def __init__(self, name: str) -> None:
        self.name = name

    def convert(
        self, value: Any, parameter: click.Parameter | None, context: click.Context | None
    ) -> Any:
        """The number; None for `none`."""
        if value == _NONE:
            return (None,)
        try:
            number = self._number(value, parameter, context)
        except (InvalidInput, ValueError):
            self.fail(f"'{value}' is no {self.name}, nor '{_NONE}'", parameter, context)
        if number < 0:
            self.fail(f"'{value}' is below 0", parameter, context)
        return (number,)

    def _number(
        self, value: str, parameter: click.Parameter | None, context: click.Context | None
    ) -> float:
        if self.name == "size":
            return parse_size(value)
        if self.name == "time":
            assert context is not None, "asked on a command line"
            assert parameter is not None, "asked on a command line"
            return seconds_of(context, parameter, value) or 0.0
        return int(value)


@click.group()
def projects() -> None:
    """Show projects; set their shares, priorities and quotas.

    A project is made with its first key, by 'hamtune keys create --project'.
    """


@projects.command("list", epilog=example("hamtune projects list"))
@json_option
@administration_option
def list_projects(as_json: bool, server: str | None, settings: Settings) -> None:
    """List projects with what they have used of what they may."""
    with administered(server, settings) as client:
        found = client.get("/projects")["items"]
    if as_json:
        print_json(found)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("project", "weight", "priority", "jobs", "trials", "CPU seconds", "storage"):
        table.add_column(column, no_wrap=True)
    for project in found:
        table.add_row(
            project["name"], f"{project['weight']:g}", project["priority"], *_shown(project)
        )
    table_console().print(table)


@projects.command(
    "set",
    epilog=example(
        "hamtune projects set climate --weight 2 --jobs 20 --cpu 300h",
        "hamtune projects set climate --cpu none",
    ),
)
@click.argument("name")
@click.option(
    "--weight", type=click.FloatRange(0.0, 1e6, min_open=True), callback=finite,
    help="Its share of the workers, beside the weights of others.",
)  # fmt: skip
@click.option(
    "--priority", type=click.Choice(("low", "normal", "high")),
    help="The highest at which its jobs go before those of others.",
)  # fmt: skip
@click.option(
    "--jobs", type=_Quota("number"), metavar="N", help="Jobs that have not ended, at once."
)
@click.option("--trials", type=_Quota("number"), metavar="N", help="Trials, ever.")
@click.option(
    "--cpu", type=_Quota("time"), metavar="TIME",
    help="CPU seconds of the simulator, ever, such as 300h.",
)  # fmt: skip
@click.option(
    "--storage", type=_Quota("size"), metavar="SIZE",
    help="Traces and source trees, such as 2GB.",
)  # fmt: skip
@json_option
@administration_option
def change(
    name: str,
    weight: float | None,
    priority: str | None,
    jobs: tuple[int | None] | None,
    trials: tuple[int | None] | None,
    cpu: tuple[float | None] | None,
    storage: tuple[int | None] | None,
    as_json: bool,
    server: str | None,
    settings: Settings,
) -> None:
    """Set the share, the priority and the quotas of a project; 'none' lifts a quota."""
    given = {"jobs": jobs, "trials": trials, "cpu_seconds": cpu, "storage_bytes": storage}
    document: dict[str, Any] = {
        "quotas": {quota: value[0] for quota, value in given.items() if value is not None}
    }
    if weight is not None:
        document["weight"] = weight
    if priority is not None:
        document["priority"] = priority
    if document == {"quotas": {}}:
        raise click.UsageError("say what to set: --weight, --priority, --jobs, --trials, ...")
    with administered(server, settings) as client:
        project = client.patch(f"/projects/{name}", document)
    if as_json:
        print_json(project)
        return
    counts = dict(zip(("jobs", "trials", "CPU seconds", "storage"), _shown(project), strict=True))
    used = ", ".join(f"{what} {count}" for what, count in counts.items())
    click.echo(f"{name}: weight {project['weight']:g}, priority {project['priority']}, {used}")


def _shown(project: dict[str, Any]) -> list[str]:
    """What was used, of what may be."""
    used, quotas = project["used"], project["quotas"]
    formats: dict[str, Any] = {
        "jobs": str,
        "trials": str,
        "cpu_seconds": lambda seconds: f"{seconds:.0f}",
        "storage_bytes": format_size,
    }
    return [
        shown(used[quota]) + ("" if quotas[quota] is None else f" of {shown(quotas[quota])}")
        for quota, shown in formats.items()
    ]


COMMANDS = [projects]
