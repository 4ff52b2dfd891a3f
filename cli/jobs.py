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
from cli.harmless import harmless
from cli.idle import say_idle
from cli.job_logs import logs
from cli.job_names import job_argument
from cli.job_words import describe, expectation, outlook_text, search_trials, status_line
from cli.jobfile import JOB_FILE, create_job, job_of_source, read_job
from cli.notify import subscribe_to
from cli.options import (
    example,
    json_option,
    print_json,
    say,
    server_option,
    source_options,
    target_option,
)
from cli.trial_words import kind_text, limit_of
from searchspace.errors import HamtuneError
from searchspace.units import format_duration
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
@click.option(
    "--notify",
    metavar="TARGET",
    help="Tell this webhook or e-mail address how the job ended; see 'hamtune notify'.",
)
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
    notify: str | None,
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
        if notify is not None:
            subscribe_to(client, job, notify)
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


@click.command("jobs", epilog=example("hamtune jobs --state running", "hamtune jobs --deleted"))
@click.option("--state", type=click.Choice(get_args(JobState)), help="Only jobs in this state.")
@click.option("--name", help="Only jobs with this name.")
@click.option("--tag", help="Only jobs with this tag.")
@click.option(
    "--archived",
    type=click.Choice(get_args(Archived)),
    default="exclude",
    show_default=True,
    help="Whether archived jobs are listed: not, too, or alone.",
)
@click.option(
    "--deleted", is_flag=True, help="Jobs that were deleted, and until when each can be restored."
)
@click.option(
    "--limit",
    type=click.IntRange(1, 10_000),
    default=50,
    show_default=True,
    help="How many at most.",
)
@json_option
@server_option
def list_jobs(
    state: str | None,
    name: str | None,
    tag: str | None,
    archived: str,
    deleted: bool,
    limit: int,
    as_json: bool,
    server: str | None,
    settings: Settings,
) -> None:
    """List jobs, newest first.

    --deleted lists those that 'hamtune restore' can bring back, with the day on which each goes for
    good.
    """
    with connect(server, settings, existing=True) as client:
        found: list[dict[str, Any]] = []
        wanted = {"state": state, "name": name, "tag": tag, "archived": archived}
        if deleted:
            wanted["deleted"] = "only"
        for job in client.pages("/jobs", **wanted, limit=min(limit, 200)):
            found.append(job)
            if len(found) == limit:
                break
    if as_json:
        print_json(found)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    last = ("deleted", "for good") if deleted else ("created", "expected")
    for title in ("id", "name", "state", "trials", "failed", "best", *last):
        table.add_column(title, no_wrap=True)
    for job in found:
        best = job["progress"]["best"]
        table.add_row(
            job["id"],
            job["name"],
            job["state"],
            str(search_trials(job)[0]),
            _failed(job["progress"]),
            format_duration(best["value"]) if best else "",
            *(
                (_minute(job["deleted_at"]), _minute(job["restorable_until"]))
                if deleted
                else (_minute(job["created_at"]), expectation(job))
            ),
        )
    table_console().print(table)


@click.command(epilog=example("hamtune show cg-64", "hamtune show cg-64 --json | jq .progress"))
@job_argument()
@json_option
@server_option
def show(job: str, as_json: bool, server: str | None, settings: Settings) -> None:
    """Show a job: state, progress, search space and what was left out of it and why.

    J is a job's id, or its name if no other job has it.
    """
    with connect(server, settings, existing=True) as client:
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
                click.echo(f"{title}: {harmless(text)}")
        for line in _application(client, found):
            click.echo(line)
        counts = found["progress"]["trials"]
        if counts:
            click.echo("trials: " + ", ".join(f"{n} {state}" for state, n in counts.items() if n))
        for one in found["progress"].get("failures", []):
            limit = limit_of(found, one)
            way_out = "" if limit is None else f"; raise {limit} of the job file"
            reason = " ".join(str(one["message"] or one["kind"]).split())
            click.echo(f"  {one['trials']} failed: {harmless(reason)}{way_out}")
        if counts.get("failed"):
            which = f"hamtune trials {found['id']} --state failed --format list"
            click.echo(f"  which: '{which}'")
        if best := found["progress"]["best"]:
            trial = client.get(f"/jobs/{found['id']}/trials/{best['trial']}")
            if engine := (trial["result"] or {}).get("engine"):
                click.echo(f"engine: {engine}")
        click.echo(f"outlook: {_outlook(client, found)}")
        for line in _space_lines(found["space"]):
            click.echo(line)


def _minute(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at))


def _failed(progress: dict[str, Any]) -> str:
    """How many trials failed, and for which kind of reason most did, for a column."""
    failures = progress.get("failures") or []
    count = sum(one["trials"] for one in failures)
    return f"{count}: {kind_text(failures[0]['kind'])}" if failures else ""


def _space_lines(space: dict[str, Any] | None) -> list[str]:
    """What a prepared job searches, and what was left out of it."""
    if space is None:
        return []
    lines = [f"search space: at most {space['size']} configurations that differ"]
    if "fidelity" in space:
        lines.append(_fidelity_line(space["fidelity"]))
    lines += [_source_line(source) for source in space.get("learned_from", [])]
    for one in space.get("excluded", []):
        value = "" if one["value"] is None else f" = {one['value']}"
        lines.append(f"  left out: {one['parameter']}{value}: {one['reason']}")
    return lines


def _outlook(client: Client, job: dict[str, Any]) -> str:
    """What more trials would bring, or why that is not known."""
    known = job["progress"].get("outlook")
    if known is None:
        try:
            told = client.get(f"/jobs/{job['id']}/outlook")
        except HamtuneError:
            return "not known, the service is of a version that does not tell"
        known = told["last"]
        if known is None:
            return f"not known, {told['unknown']}"
    return f"{outlook_text(known)} (trial {known['trial']})"


def _fidelity_line(fidelity: dict[str, Any]) -> str:
    if fidelity["trace_sha256"] is None:
        return f"searches on the whole trace: {fidelity['obstacle']}"
    return f"searches on a truncated trace, {fidelity['share']:.1%} of the whole; verifies the best"


def _source_line(source: dict[str, Any]) -> str:
    weight = source.get("weight")
    counts = "" if weight is None else f", counts {weight:.2f} of 1"
    return f"learned from {source['name']} ({source['job']}), {source['trials']} trials{counts}"


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


def _steering(name: str, doing: str, text: str) -> click.Command:
    @click.command(name, help=text, epilog=example(f"hamtune {name} cg-64"))
    @job_argument(archived="exclude" if name in ("pause", "cancel") else "include")
    @json_option
    @server_option
    def command(job: str, as_json: bool, server: str | None, settings: Settings) -> None:
        with connect(server, settings, existing=True) as client:
            found = client.find_job(job)
            answer = client.post(f"/jobs/{found['id']}/{name}")
        if as_json:
            print_json(answer)
        else:
            click.echo(f"{answer['name']} ({answer['id']}): {doing}, now {answer['state']}")
        say_idle(answer, server, settings)

    return command


@click.command(epilog=example("hamtune priority cg-64 high"))
@job_argument()
@click.argument("priority", type=click.Choice(list(PRIORITIES)))
@json_option
@server_option
def priority(
    job: str, priority: str, as_json: bool, server: str | None, settings: Settings
) -> None:
    """Change the priority of a job that has not ended; its trials stay what they are."""
    with connect(server, settings, existing=True) as client:
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
@job_argument()
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
    with connect(server, settings, existing=True) as client:
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
@job_argument("jobs", metavar="J...", nargs=-1, required=True)
@click.option("--undo", is_flag=True, help="Show them in lists again.")
@json_option
@server_option
def archive(
    jobs: tuple[str, ...], undo: bool, as_json: bool, server: str | None, settings: Settings
) -> None:
    """Hide paused or ended jobs from lists; nothing of them is lost, and it can be undone.

    --undo brings them back. J is a job's id, or its name if no other job has it. A job that is
    resumed is listed again.
    """
    with connect(server, settings, existing=True) as client:
        found = [client.find_job(job) for job in jobs]
        for job in found:
            answer = client.patch(f"/jobs/{job['id']}", {"archived": not undo})
            if as_json:
                print_json(answer)
            else:
                done = "archived" if answer["archived_at"] else "listed again"
                click.echo(f"{answer['name']} ({answer['id']}): {done}")


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
]
