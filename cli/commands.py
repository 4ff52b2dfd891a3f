"""All commands by name: where each is, and the line that `hamtune --help` shows of it.

A command's module is imported when the command is used; the libraries of all of them together take
longer to load than most commands to run.
"""

from __future__ import annotations

from importlib import import_module

import click

from cli.interrupts import default_signals

__all__ = ["TABLE", "LazyGroup"]

TABLE = {
    "agent": (
        "agent",
        "Measure the finalists of jobs on this cluster, as CONFIGURATION allows.",
    ),
    "api": (
        "serve",
        "Start the REST interface alone; coordinators and workers are processes of their own.",
    ),
    "archive": (
        "jobs",
        "Hide paused or ended jobs from lists; nothing of them is lost, and it can be undone.",
    ),
    "backup": (
        "maintenance",
        "Write the database and all artifacts to one archive, and try whether it can be restored.",
    ),
    "best": (
        "best",
        "Show the best configuration of a job and what it gains over the best baseline.",
    ),
    "calibrate": (
        "calibrate",
        "Measure a cluster, and write the machine that simulates it.",
    ),
    "cancel": ("jobs", "End a job for good; its finished trials stay."),
    "capture": ("traces", "Run an MPI program under SMPI and write its trace."),
    "check": (
        "check",
        "Check a job file, and explain what it would search and how long that may take.",
    ),
    "clone": (
        "clone",
        "Create a new job like an existing one, with changes, and print its id.",
    ),
    "compare": (
        "compare",
        "Show jobs side by side: what differs in their job files, and what each has found.",
    ),
    "completion": (
        "completion",
        "Print what a shell needs to complete commands, options and their values.",
    ),
    "coordinator": (
        "serve",
        "Drive jobs over a shared database and broker; any number of coordinators may run.",
    ),
    "delete": (
        "trash",
        "Delete a paused or ended job with its trials and events; 'hamtune restore' brings it "
        "back.",
    ),
    "describe": ("jobs", "Rename a job, write a note on it, or tag it; in any state."),
    "doctor": ("doctor", "Look for what is missing on this machine, and say how to get it."),
    "evaluate": ("evaluate", "Simulate an application once, on a machine, in a configuration."),
    "expire": (
        "maintenance",
        "Delete what was kept long enough, and artifacts that nothing refers to any more.",
    ),
    "export": (
        "export",
        "Write the best configuration of a job, or that of a trial, as files to install or rerun.",
    ),
    "front": (
        "front",
        "Show the front of a job: what no other completed trial beats in both time and price.",
    ),
    "importance": (
        "importance",
        "Show how much each parameter decided the simulated time, by the trials of a job.",
    ),
    "init": ("init", "Write a commented job file, by the answers to five questions."),
    "jobs": ("jobs", "List jobs, newest first."),
    "keys": (
        "keys",
        "Make, list, rotate and revoke keys to a service; read its audit log.",
    ),
    "logs": ("jobs", "Show what building and running the program of a job printed."),
    "map": ("mappings", "Place ranks on the hosts of a machine and judge the mapping in hops."),
    "measure": (
        "measure",
        "Have a script measure the configurations that a job asks for, until the job has ended.",
    ),
    "measured": (
        "measured",
        "Show what clusters have measured of a job's finalists.",
    ),
    "migrate": ("maintenance", "Bring the tables of the database up to date."),
    "notify": (
        "notify",
        "Have a webhook called, or a mail sent, when jobs end or find something better.",
    ),
    "order": (
        "orderings",
        "Renumber the hosts of a network so that neighbouring numbers are close.",
    ),
    "pause": ("jobs", "Pause a job: trials under way end, no further ones start."),
    "plot": (
        "plot",
        "Draw the convergence of jobs, with their baselines, and their proximity to the best C(n).",
    ),
    "priority": (
        "jobs",
        "Change the priority of a job that has not ended; its trials stay what they are.",
    ),
    "projects": ("projects", "Show projects; set their shares, priorities and quotas."),
    "recorder": ("recorder", "Record programs on a cluster, under its own MPI."),
    "replay": ("replay", "Simulate a trial of a job again and tell whether the same comes out."),
    "restore": (
        "trash",
        "Bring a deleted job back as it was, or fill an empty database from a backup.",
    ),
    "resume": ("jobs", "Let a paused job go on where it stopped."),
    "rules": (
        "rules",
        "Find the fastest algorithm of each collective at each size, and write the library's file.",
    ),
    "run": ("run", "Run a job to its end, without a server."),
    "schema": ("schema", "Print the JSON schema of job or machine files."),
    "show": (
        "jobs",
        "Show a job: state, progress, search space and what was left out of it and why.",
    ),
    "study": ("studies", "Make a table or figure of a paper again, ours beside the paper's."),
    "submit": ("jobs", "Hand a job to a running service and print its id."),
    "testbed": ("testbeds", "Emulate a machine on this host, and run real MPI programs on it."),
    "topology": ("networks", "Generate networks, optimise, measure, convert and draw them."),
    "trace": ("traces", "Look at traces; import, merge, truncate and extrapolate them."),
    "trial": (
        "trial",
        "Show one trial of a job: its configuration, what became of it and why, and what it took.",
    ),
    "trials": (
        "trials",
        "Write the trials of a job as a table, all of them or those in some states.",
    ),
    "up": ("serve", "Start the service: API and workers in one process, over a data directory."),
    "validate": (
        "validate",
        "Measure trials of a job on a cluster, and say how far the simulation is to be trusted.",
    ),
    "verify": (
        "verify",
        "Measure what an export gains, by running it and the library's defaults alternately.",
    ),
    "watch": ("watch", "Watch a job until it ends: state, convergence curve and latest trials."),
    "worker": (
        "serve",
        "Evaluate trials over a shared database and broker; any number of workers may run.",
    ),
}
"""Module in `cli` and short help of each command."""


class LazyGroup(click.Group):
    """A group whose commands are those of `TABLE`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands, sorted."""
        return sorted(TABLE)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """A command, imported now; None where there is none of this name."""
        if cmd_name not in TABLE:
            return None
        with default_signals():
            module = import_module(f"cli.{TABLE[cmd_name][0]}")
        commands: list[click.Command] = module.COMMANDS
        return next(command for command in commands if command.name == cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the arguments begin with.

        Raises:
            NoSuchCommand: There is none; those that are spelled like it are named.
        """
        try:
            return super().resolve_command(ctx, args)
        except click.NoSuchCommand as error:
            raise click.NoSuchCommand(error.command_name, possibilities=TABLE, ctx=ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing them."""
        width = formatter.width - 6 - max(map(len, TABLE))
        rows = [
            (name, click.Command(name, help=TABLE[name][1]).get_short_help_str(width))
            for name in self.list_commands(ctx)
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)
