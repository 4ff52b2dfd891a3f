"""`hamtune completion`: commands and options completed by a shell."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from cli.options import example

__all__ = ["COMMANDS"]

_SHELLS = ("bash", "zsh", "fish")


@click.command(
    epilog=example(
        "hamtune completion bash > ~/.local/share/bash-completion/completions/hamtune",
        'hamtune completion zsh > "${fpath[1]}/_hamtune"',
        "hamtune completion fish > ~/.config/fish/completions/hamtune.fish",
    )
)
@click.argument("shell", type=click.Choice(_SHELLS))
@click.pass_context
def completion(context: click.Context, shell: str) -> int:
    """Print what a shell needs to complete commands, options and their values.

    A new shell has it.
    """
    made = get_completion_class(shell)
    assert made is not None
    root = context.find_root()
    click.echo(made(root.command, {}, "hamtune", "_HAMTUNE_COMPLETE").source())
    return 0


COMMANDS = [completion]
