"""`hamtune study`: tables and figures of the papers, ours beside theirs."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

import click
from rich.table import Table as Grid

from cli.console import table_console
from cli.options import data_option, example, json_option, print_json, say, seed_option
from searchspace.machine import NetworkModel
from service.settings import Settings
from service.version import VERSION
from studies import STUDIES
from studies.laboratory import ON_PACKETS, Laboratory
from studies.report import claims_table, files
from studies.study import Findings
from workers.simulator_client import simulator_version

__all__ = ["COMMANDS"]

_LIST = "\n".join(
    f"{study.name:18} {study.source}: {study.description} ({study.takes})"
    for study in STUDIES.values()
)


@click.command(
    "study",
    help=f"""Make a table or figure of a paper again, ours beside the paper's.

Prints the tables; with -o also writes them as CSV, the plots as SVG and a page with both. Captured
programs and simulated times are kept in the data directory, so an interrupted study goes on. What
the whole study takes on one core stands in brackets; --quick takes minutes at most.

\b
{_LIST}
""",
    epilog=example(
        "hamtune study deng-table-1",
        "hamtune study hu-figure-5 --quick -o figure-5",
        "hamtune study hu-table-2 --quick --network packets",
        "hamtune study trust --measured docs/studies -o docs/studies",
    ),
)
@click.argument("name", type=click.Choice(tuple(STUDIES)), metavar="NAME")
@click.option("--quick", is_flag=True, help="Smaller sizes and fewer repetitions.")
@click.option(
    "-o", "--output", type=click.Path(file_okay=False, path_type=Path), help="Directory for files."
)
@click.option(
    "--measured",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Directory with files of an earlier run, whose measurements are taken: only what is not "
    "among them is measured.",
)
@click.option(
    "--network",
    type=click.Choice(get_args(NetworkModel)),
    default="fluid",
    show_default=True,
    help="Model of messages, of studies that simulate networks of Hu and of Deng: SimGrid's, or "
    "packets that queue for cables, which is many times as fast and names files NAME-packets.",
)
@seed_option
@json_option
@data_option
def study_command(
    name: str,
    quick: bool,
    output: Path | None,
    measured: Path | None,
    network: NetworkModel,
    seed: int,
    as_json: bool,
    settings: Settings,
) -> None:
    study = STUDIES[name]
    if measured is not None and not study.measures:
        named = ", ".join(study.name for study in STUDIES.values() if study.measures)
        raise click.UsageError(f"{name} measures nothing; --measured is for {named}")
    if network != "fluid" and not study.network_chosen:
        named = ", ".join(study.name for study in STUDIES.values() if study.network_chosen)
        raise click.UsageError(f"{name} leaves no choice of it; --network is for {named}")
    directory = settings.data / "studies"
    with Laboratory(
        directory, quick=quick, seed=seed, say=say, network=network, measured=measured
    ) as laboratory:
        findings = study.run(laboratory)
    if network == "packets":
        findings = dataclasses.replace(findings, remarks=(*findings.remarks, ON_PACKETS))
    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
        told = files(study, findings, quick=quick, made=_made(), network=network)
        for file_name, content in told:
            (output / file_name).write_bytes(content)
            say(f"wrote {output / file_name}")
    if as_json:
        found = {"study": name, "source": study.source, **dataclasses.asdict(findings)}
        print_json({**found, "network": network} if study.network_chosen else found)
    else:
        _show(findings)


COMMANDS = [study_command]


def _made() -> str:
    """The day, and what simulated."""
    day = datetime.now(UTC).date().isoformat()
    return f"{day}, Hamtune {VERSION}, simulator {simulator_version()}"


def _show(findings: Findings) -> None:
    # Into a file or pipe whole lines are wanted, however long.
    console = table_console()
    claims = (claims_table(findings.claims),) if findings.claims else ()
    for table in (*findings.tables, *claims):
        grid = Grid(title=table.title, title_justify="left")
        for column in table.columns:
            grid.add_column(column, justify="left" if column == table.columns[0] else "right")
        for row in table.rows:
            grid.add_row(*("" if cell is None else str(cell) for cell in row))
        console.print(grid)
    for remark in findings.remarks:
        console.print(remark)
