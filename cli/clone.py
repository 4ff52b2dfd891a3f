"""`hamtune clone`: a new job like an existing one, with changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from cli.client import connect
from cli.idle import say_idle
from cli.job_names import job_argument
from cli.options import example, json_option, print_json, server_option
from searchspace.documents import read_document
from searchspace.errors import InvalidInput
from service.settings import Settings

__all__ = ["COMMANDS", "changes_of"]


@click.command(
    epilog=example(
        "hamtune clone cg-64",
        "hamtune clone cg-64 --name cg-64-long --set budget.trials=400 --set seed=2",
        "hamtune clone cg-64 --set 'search.topology=[random, torus-3d]' --set budget.patience=null",
    )
)
@job_argument()
@click.option(
    "--name", help="What to call it; by default the name of the other with a number: cg-64-2."
)
@click.option(
    "--set",
    "settings_of_job",
    metavar="KEY=VALUE",
    multiple=True,
    help="Change a field of the job file: its dotted path, and its value in YAML; null leaves the "
    "field at its default. May be repeated.",
)
@json_option
@server_option
def clone(
    job: str,
    name: str | None,
    settings_of_job: tuple[str, ...],
    as_json: bool,
    server: str | None,
    settings: Settings,
) -> None:
    """Create a new job like an existing one, with changes, and print its id.

    The changed job file is checked as any other. Trials are not copied, but what was evaluated
    before is answered by the cache.
    """
    changes = changes_of(settings_of_job)
    if name is not None:
        changes["name"] = name
    with connect(server, settings) as client:
        found = client.find_job(job)
        answer = client.post(f"/jobs/{found['id']}/clone", changes)
    if as_json:
        print_json(answer)
    else:
        click.echo(answer["id"])
    say_idle(answer, server, settings)


COMMANDS = [clone]


def changes_of(assignments: Sequence[str]) -> dict[str, Any]:
    """The merge patch (RFC 7396) that assignments such as `budget.trials=400` amount to.

    Raises:
        click.UsageError: One of them is no assignment, or its value is no YAML.

    Example:
        >>> changes_of(["seed=2", "budget.trials=400"])
        {'seed': 2, 'budget': {'trials': 400}}
    """
    changes: dict[str, Any] = {}
    for assignment in assignments:
        path, equals, text = assignment.partition("=")
        keys = path.strip().split(".")
        if not equals or not all(keys):
            raise click.UsageError(
                f"--set {assignment}: write KEY=VALUE, such as budget.trials=400"
            )
        inside = changes
        for key in keys[:-1]:
            deeper = inside.get(key)
            inside[key] = dict(deeper) if isinstance(deeper, Mapping) else {}
            inside = inside[key]
        inside[keys[-1]] = _value(assignment, text)
    return changes


def _value(assignment: str, text: str) -> Any:
    try:
        return read_document(text)
    except InvalidInput as error:
        raise click.UsageError(f"--set {assignment}: {error}") from None
