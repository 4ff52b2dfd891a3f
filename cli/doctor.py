"""What is missing on this machine."""

from __future__ import annotations

from dataclasses import asdict

import click

from cli.options import data_option, example, json_option, print_json
from service.settings import Settings

__all__ = ["COMMANDS"]


@click.command(epilog=example("hamtune doctor", "hamtune doctor --json"))
@json_option
@data_option
def doctor(as_json: bool, settings: Settings) -> int:
    """Look for what is missing on this machine, and say how to get it.

    Versions, simulator, engine, tools, sandbox, disk, database, artifacts, broker, processes.

    Ends with status 1 where something failed that the service cannot do without.
    """
    from service.operations.checks import diagnose
    from service.runtime import open_storage

    findings = diagnose(settings, open_storage)
    failed = any(finding.status == "failed" for finding in findings)
    if as_json:
        print_json({"healthy": not failed, "checks": [asdict(finding) for finding in findings]})
    else:
        for finding in findings:
            click.echo(f"{finding.status:8}{finding.name:15} {finding.text}")
    return 1 if failed else 0


COMMANDS = [doctor]
