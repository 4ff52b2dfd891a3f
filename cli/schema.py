"""`hamtune schema`: what job and machine files may say, for editors."""

from __future__ import annotations

import click

from cli.options import example, print_json

__all__ = ["COMMANDS"]


@click.command(
    epilog=example(
        "hamtune schema job > job.schema.json",
        "",
        "An editor with a YAML language server completes and checks a job file",
        "whose first line is:",
        "  # yaml-language-server: $schema=job.schema.json",
    )
)
@click.argument("document", type=click.Choice(["job", "machine"]))
def schema(document: str) -> int:
    """Print the JSON schema of job or machine files.

    Every field has its description, its default and, where they are names, all its values.
    'hamtune check' also says whether all of it fits together.
    """
    from searchspace.schema import file_schema

    print_json(file_schema("machine" if document == "machine" else "job"))
    return 0


COMMANDS = [schema]
