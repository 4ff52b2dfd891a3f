"""Jobs: submit, list, show, and steer them."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, get_args

import click
from rich.table import Table

from cli.client import Client, connect, live_server
from cli.console import table_console
from cli.follow import follow, say_failure
from cli.jobfile import JOB_FILE, create_job, job_of_source, read_job
from cli.options import (
    example,
    json_option,
    print_json,
    say,
    server_option,
    source_options,
    target_option,
)
from cli.output_files import show_files
from cli.terminal import describe, expectation, search_trials, status_line
from searchspace.errors import HamtuneError
from searchspace.units import format_duration
from service.datalock import DataLock
from service.settings import Settings
from storage.fair_share import PRIORITIES
from storage.records import Archived, JobState

__all__ = ["COMMANDS"]


@click.command(
    epilog=example(
        "hamtune submit job.yaml --server http://localhost:8080 --watch",
        "hamtune submit --source NPB3.4-MPI/ --build 'make CG CLASS=S NPROCS=16' \\",
        "  --run bin/cg.S.16 --ranks 16",
    )
)
@click.argument("job_file", type=JOB_FILE, metavar="[JOB.yaml]", required=False)
@click.option("--watch", "watching", is_flag=True, help="Watch the job until it ends.")
@source_options
@click.option(
    "--trials",
    type=click.IntRange(1),
    help="Budget of the job; with --source and without a job file, 100 by default.",
)
@target_option
@json_option
@server_option
def submit(
    job_file: Path | None,
    watching: bool,
    source: dict[str, Any] | None,
    trials: int | None,
    target: str | None,
    as_json: bool,
    server: str | None,
    settings: Settings,
) -> int:
    """Hand a job to a running service and print its id.

    With --source, --build, --run and --ranks the job tunes a program of your own, in the place of
    the one that the job file names. Without a job file it is tuned for as many hosts as ranks, but
    16 at least, of degree 4, with the hosts, cables and switches of Hu et al.: 100 Gf, 40 Gbps and
    60 ns.
    """
    if job_file is None and source is None:
        raise click.UsageError("give a job file, or --source with --build, --run and --ranks")
    if target is not None and job_file is None:
        raise click.UsageError("--target goes with a job file")
    spec = None if job_file is None else read_job(job_file, target=target)
    folder = Path() if job_file is None else job_file.parent
    if source is not None:
        spec, folder = job_of_source(source, spec, trials=trials), Path()
    elif trials is not None:
        raise click.UsageError("--trials goes with --source; the job file has its own budget")
    assert spec is not None
    if server is None and live_server(settings.data) is None:
        raise HamtuneError(
            f"no service runs over {settings.data}; start one with 'hamtune up', "
            "name one with --server, or run the job here with 'hamtune run'"
        )
    with connect(server, settings) as client:
        job = create_job(client, spec, folder, job_file)
        if not watching:
            print_json(job) if as_json else click.echo(job["id"])
            return 0
        if not as_json:
            click.echo(job["id"])
        try:
            job = follow(client, job["id"])
        except KeyboardInterrupt:
            say(f"hamtune: the job goes on; watch it again with 'hamtune watch {job['id']}'")
            return 130
        if as_json:
            print_json(job)
        say_failure(job)
        return 0 if job["state"] == "completed" else 1


@click.command("jobs", epilog=example("hamtune jobs --state running"))
@click.option("--state", type=click.Choice(get_args(JobState)), help="Only jobs in this state.")
@click.option("--name", help="Only jobs with this name.")
@click.option("--tag", help="Only jobs with this tag.")
@click.option(
    "--archived",
    type=click.Choice(get_args(Archived)),
    default="exclude",
    show_default=True,
    help="Whether archived jobs are listed, too, or alone.",
)
@click.option(
    "--limit",
    type=click.IntRange(1, 10_000),
    default=50,
    show_default=True,
    help="At most so many.",
)
@json_option
@server_option
def list_jobs(
    state: str | None,
    name: str | None,
    tag: str | None,
    archived: str,
    limit: int,
    as_json: bool,
    server: str | None,
    settings: Settings,
) -> None:
    """List jobs, newest first."""
    with connect(server, settings) as client:
        found: list[dict[str, Any]] = []
        wanted = {"state": state, "name": name, "tag": tag, "archived": archived}
        for job in client.pages("/jobs", **wanted, limit=min(limit, 200)):
            found.append(job)
            if len(found) == limit:
                break
    if as_json:
        print_json(found)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("id", "name", "state", "trials", "best", "created", "expected"):
        table.add_column(title, no_wrap=True)
    for job in found:
        best = job["progress"]["best"]
        table.add_row(
            job["id"],
            job["name"],
            job["state"],
            str(search_trials(job)[0]),
            format_duration(best["value"]) if best else "",
            time.strftime("%Y-%m-%d %H:%M", time.localtime(job["created_at"])),
            expectation(job),
        )
    table_console().print(table)


@click.command(epilog=example("hamtune show cg-64", "hamtune show cg-64 --json | jq .progress"))
@click.argument("job", metavar="J")
@json_option
@server_option
def show(job: str, as_json: bool, server: str | None, settings: Settings) -> None:
    """Show a job: state, progress, search space and what was left out of it and why.

    J is a job's id, or its name if no other job has it.
    """
    with connect(server, settings) as client:
        found = client.find_job(job)
        if as_json:
            print_json(found)
            return
        click.echo(status_line(found))
        said = {
            "tags": ", ".join(found["tags"]),
            "note": found["note"],
            "error": found["error"],
            "paused": found["paused_because"],
        }
        for title, text in said.items():
            if text:
                click.echo(f"{title}: {text}")
        for line in _application(client, found):
            click.echo(line)
        counts = found["progress"]["trials"]
        if counts:
            click.echo("trials: " + ", ".join(f"{n} {state}" for state, n in counts.items() if n))
        if best := found["progress"]["best"]:
            trial = client.get(f"/jobs/{found['id']}/trials/{best['trial']}")
            if engine := (trial["result"] or {}).get("engine"):
                click.echo(f"engine: {engine}")
        space = found["space"]
        if space:
            click.echo(f"search space: {space['size']} configurations")
            if "fidelity" in space:
                click.echo(_fidelity_line(space["fidelity"]))
            for left_out in space.get("excluded", []):
                click.echo(
                    f"  left out: {left_out['parameter']} = {left_out['value']}: "
                    f"{left_out['reason']}"
                )


def _fidelity_line(fidelity: dict[str, Any]) -> str:
    if fidelity["trace_sha256"] is None:
        return f"searches on the whole trace: {fidelity['obstacle']}"
    return f"searches on a truncated trace, {fidelity['share']:.1%} of the whole; verifies the best"


def _application(client: Client, job: dict[str, Any]) -> list[str]:
    """What is known of a job's application, as lines."""
    named = job["spec"]["application"]
    if job["application_id"] is None or "id" not in named:
        return [f"application: {describe(named)}"]
    application = client.get(f"/applications/{job['application_id']}")
    line = f"application: {application['name']} on {application['ranks']} ranks"
    if application["state"] != "ready":
        line += f", {application['state']}"
    lines = [f"{line} ({application['id']})"]
    if application["recipe"]:
        lines.append(f"  build: {application['recipe']['build']}")
        lines.append(f"  run: {application['recipe']['run']}")
    return lines + [f"  {note}" for note in application["notes"]]


@click.command(
    epilog=example(
        "hamtune logs cg-16",
        "hamtune logs cg-16 --build --follow",
        "hamtune logs cg-16 --files",
        "hamtune logs cg-16 --files --output results/",
    )
)
@click.argument("job", metavar="J")
@click.option("--build", "log", flag_value="build", help="Only what the build printed.")
@click.option("--run", "log", flag_value="run", help="Only what the runs printed.")
@click.option("--follow", is_flag=True, help="Go on until the program is captured.")
@click.option("--files", is_flag=True, help="List the files that the runs left, instead.")
@click.option(
    "-o",
    "--output",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="With --files: fetch them into a directory.",
)
@json_option
@server_option
def logs(
    job: str,
    log: str | None,
    follow: bool,
    files: bool,
    output: Path | None,
    as_json: bool,
    server: str | None,
    settings: Settings,
) -> int:
    """Show what building and running the program of a job printed.

    J is a job's id, its name if no other job has it, or the id of an application. With --files,
    show which files the last runs wrote or changed, or fetch them.
    """
    if output is not None and not files:
        raise click.UsageError("--output goes with --files")
    if files and (log or follow):
        raise click.UsageError("--files does not go with --build, --run or --follow")
    wanted = (log,) if log else ("build", "run")
    with connect(server, settings) as client:
        path = _owner_of_logs(client, job)
        if files:
            show_files(client, f"{path}/files", output, as_json=as_json)
            return 0
        if as_json:
            state = client.get(path)
            print_json(
                {
                    "application": state["id"],
                    "state": state["state"],
                    "error": state["error"],
                    **{name: client.download(f"{path}/logs/{name}").decode() for name in wanted},
                }
            )
            return 0
        shown = dict.fromkeys(wanted, 0)
        while True:
            state = client.get(path)
            for name in wanted:
                text = client.download(f"{path}/logs/{name}", offset=shown[name]).decode()
                click.echo(text, nl=False)
                shown[name] += len(text)
            if not follow or state["state"] in ("ready", "failed"):
                break
            time.sleep(1.0)
    if state["state"] == "failed":
        say(f"hamtune: {state['error'].splitlines()[0]}")
    return 0


def _owner_of_logs(client: Client, reference: str) -> str:
    """The path of the application that a job or an id names."""
    try:
        job = client.find_job(reference)
    except HamtuneError as no_job:
        try:
            return f"/applications/{client.get_application(reference)['id']}"
        except HamtuneError:
            raise no_job from None
    if job["application_id"] is None:
        raise HamtuneError(f"job {job['name']!r} has no application yet, or none that is built")
    return f"/applications/{job['application_id']}"


def _steering(name: str, doing: str, text: str) -> click.Command:
    @click.command(name, help=text, epilog=example(f"hamtune {name} cg-64"))
    @click.argument("job", metavar="J")
    @json_option
    @server_option
    def command(job: str, as_json: bool, server: str | None, settings: Settings) -> None:
        with connect(server, settings) as client:
            found = client.find_job(job)
            answer = client.post(f"/jobs/{found['id']}/{name}")
        if as_json:
            print_json(answer)
        elif name == "clone":
            click.echo(answer["id"])
        else:
            click.echo(f"{answer['name']} ({answer['id']}): {doing}, now {answer['state']}")
        if name in ("resume", "clone") and server is None and _is_idle(settings):
            say(
                f"hamtune: nothing runs over {settings.data}; the job goes on with "
                f"'hamtune up' or 'hamtune run --resume {answer['id']}'"
            )

    return command


def _is_idle(settings: Settings) -> bool:
    """Whether jobs of the data directory wait for somebody to start a process."""
    return settings.private and DataLock(settings.data).holder() is None


@click.command(epilog=example("hamtune priority cg-64 high"))
@click.argument("job", metavar="J")
@click.argument("priority", type=click.Choice(list(PRIORITIES)))
@json_option
@server_option
def priority(
    job: str, priority: str, as_json: bool, server: str | None, settings: Settings
) -> None:
    """Change the priority of a job that has not ended; its trials stay what they are."""
    with connect(server, settings) as client:
        found = client.find_job(job)
        answer = client.put(f"/jobs/{found['id']}/priority", {"priority": priority})
    if as_json:
        print_json(answer)
    else:
        click.echo(f"{answer['name']} ({answer['id']}): priority {answer['priority']}")


@click.command(
    "describe",
    epilog=example(
        "hamtune describe cg-64 --note 'With the new cables.' --tag cables",
        "hamtune describe cg-64 --name cg-64-new-cables --untag spring",
        "hamtune jobs --tag cables",
    ),
)
@click.argument("job", metavar="J")
@click.option("--name", help="What to call it from now on.")
@click.option("--note", help="Text for people, in the place of what was there.")
@click.option("--tag", "tags", multiple=True, help="A word to find it by; may be repeated.")
@click.option("--untag", "untags", multiple=True, help="A tag to take off; may be repeated.")
@json_option
@server_option
def describe_job(
    job: str,
    name: str | None,
    note: str | None,
    tags: tuple[str, ...],
    untags: tuple[str, ...],
    as_json: bool,
    server: str | None,
    settings: Settings,
) -> None:
    """Rename a job, write a note on it, or tag it; in any state.

    J is a job's id, or its name if no other job has it.
    """
    changes: dict[str, Any] = {
        key: value for key, value in (("name", name), ("note", note)) if value is not None
    }
    if not changes and not tags and not untags:
        raise click.UsageError("say what to change: --name, --note, --tag or --untag")
    with connect(server, settings) as client:
        found = client.find_job(job)
        if tags or untags:
            if unknown := [tag for tag in untags if tag not in found["tags"]]:
                raise HamtuneError(
                    f"{found['name']} has no tag {unknown[0]!r}; it has "
                    f"{', '.join(found['tags']) or 'none'}"
                )
            changes["tags"] = [tag for tag in (*found["tags"], *tags) if tag not in untags]
        answer = client.patch(f"/jobs/{found['id']}", changes)
    if as_json:
        print_json(answer)
        return
    said = [f"tags {', '.join(answer['tags'])}"] if answer["tags"] else []
    said += [f"note {answer['note']!r}"] if answer["note"] else []
    click.echo(f"{answer['name']} ({answer['id']}): {'; '.join(said) or 'no note, no tags'}")


@click.command(
    epilog=example(
        "hamtune archive old-job",
        "hamtune jobs --archived only",
        "hamtune archive old-job --undo",
    )
)
@click.argument("jobs", metavar="J...", nargs=-1, required=True)
@click.option("--undo", is_flag=True, help="Have lists show them again.")
@json_option
@server_option
def archive(
    jobs: tuple[str, ...], undo: bool, as_json: bool, server: str | None, settings: Settings
) -> None:
    """Put paused or ended jobs aside: lists leave them out, nothing of them is lost.

    J is a job's id, or its name if no other job has it. A job that is resumed is listed again.
    """
    with connect(server, settings) as client:
        found = [client.find_job(job) for job in jobs]
        for job in found:
            answer = client.patch(f"/jobs/{job['id']}", {"archived": not undo})
            if as_json:
                print_json(answer)
            else:
                done = "archived" if answer["archived_at"] else "listed again"
                click.echo(f"{answer['name']} ({answer['id']}): {done}")


@click.command(epilog=example("hamtune delete old-job", "hamtune delete 0k3v9m2x7q1zt8ak --yes"))
@click.argument("job", metavar="J")
@click.option("--yes", is_flag=True, help="Do not ask whether it is meant.")
@json_option
@server_option
def delete(job: str, yes: bool, as_json: bool, server: str | None, settings: Settings) -> None:
    """Delete a paused or ended job with its trials and events, for good.

    Traces and networks that other jobs use stay. J is a job's id, or its name if no other job has
    it.
    """
    with connect(server, settings) as client:
        found = client.find_job(job)
        if not yes:
            trials = search_trials(found)[0]
            question = f"Delete {found['name']} ({found['id']}, {trials} trials) for good?"
            try:
                meant = click.confirm(question, err=True)
            except click.Abort as error:
                if not isinstance(error.__context__, EOFError):
                    raise  # Ctrl-C
                raise HamtuneError("nobody answers; --yes deletes without a question") from None
            if not meant:
                say(f"{found['name']} ({found['id']}) stays")
                return
        client.delete(f"/jobs/{found['id']}")
        if as_json:
            print_json({"id": found["id"], "name": found["name"], "state": "deleted"})
        else:
            click.echo(f"{found['name']} ({found['id']}): deleted")


COMMANDS = [
    submit,
    list_jobs,
    show,
    logs,
    _steering(
        "pause", "asked to pause", "Pause a job: trials under way end, no further ones start."
    ),
    _steering("resume", "resumed", "Let a paused job go on where it stopped."),
    priority,
    _steering("cancel", "asked to cancel", "End a job for good; its finished trials stay."),
    describe_job,
    archive,
    delete,
    _steering("clone", "cloned", "Create a new job like an existing one and print its id."),
]
