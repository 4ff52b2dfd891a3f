"""Maintenance of what is stored: backup and restoration, retention, migration of the tables."""

from __future__ import annotations

import tempfile
import threading
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.keys import seconds_of
from cli.options import data_option, example, json_option, print_json, say
from searchspace.errors import HamtuneError
from searchspace.units import format_duration
from service.settings import Settings

if TYPE_CHECKING:
    from storage.backup import BackupSummary
    from storage.storage import Storage

__all__ = ["COMMANDS", "restore_backup"]

_NOUNS = {"deleted": "deleted jobs"}


@click.command(
    epilog=example("hamtune backup hamtune.tar.gz", "hamtune restore hamtune.tar.gz --data new/")
)
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--no-check", is_flag=True, help="Do not try whether it can be restored.")
@json_option
@data_option
def backup(file: Path, no_check: bool, as_json: bool, settings: Settings) -> None:
    """Write the database and all artifacts to one archive, and try whether it can be restored.

    The service may run meanwhile. The archive holds keys only as digests, but secrets of webhooks
    as they are: it is its owner's alone to read; guard copies as well. Which kind of database it
    was does not matter to the one that it is restored into.
    """
    from service.runtime import open_storage

    storage = open_storage(settings)
    try:
        summary = storage.back_up(file)
    finally:
        storage.close()
    if not no_check:
        _check(file, summary)
    if as_json:
        print_json({"file": str(file), "checked": not no_check, **asdict(summary)})
    else:
        checked = "" if no_check else ", restored once to check it"
        rows = sum(summary.rows.values())
        say(f"hamtune: {file}: {rows} rows and {summary.artifacts} artifacts{checked}")


def _check(file: Path, summary: BackupSummary) -> None:
    """Restore a backup into a database and a store that are thrown away.

    Raises:
        HamtuneError: It does not hold what it should, or there is no room to find that out.
    """
    from storage.errors import Unavailable
    from storage.storage import Storage

    try:
        with tempfile.TemporaryDirectory(prefix="hamtune-check-") as directory:
            trial = Storage.open(f"sqlite:///{directory}/check.db", f"{directory}/artifacts")
            try:
                if trial.restore(file) != summary:
                    raise HamtuneError(f"{file} does not hold what was written to it")
            finally:
                trial.close()
    except (OSError, Unavailable) as error:
        raise HamtuneError(
            f"{file} is written, but cannot be checked in {tempfile.gettempdir()}: {error}; set "
            "TMPDIR to a directory with room for all that is stored, twice, or give --no-check"
        ) from None


def restore_backup(file: Path, as_json: bool, settings: Settings) -> None:
    """Fill an empty database and artifact store from a backup, and say what was restored."""
    from storage.storage import Storage

    storage = Storage.open(
        settings.database_url,
        settings.artifacts_url,
        cache=settings.cache,
        cache_bytes=settings.cache_size,
    )
    try:
        summary = storage.restore(file)
    finally:
        storage.close()
    if as_json:
        print_json({"file": str(file), **asdict(summary)})
    else:
        rows = sum(summary.rows.values())
        say(f"hamtune: {rows} rows and {summary.artifacts} artifacts are restored")


@click.command(epilog=example("hamtune expire --jobs 180d --evaluations 2000d --audit 400d"))
@click.option(
    "--jobs", metavar="TIME", callback=seconds_of, help="Delete jobs that ended so long ago."
)
@click.option(
    "--evaluations",
    metavar="TIME",
    callback=seconds_of,
    help="Forget outcomes as old, and networks: both are made anew where they are wanted.",
)
@click.option(
    "--audit", metavar="TIME", callback=seconds_of, help="Delete as old entries of the audit log."
)
@click.option("--dry-run", is_flag=True, help="Only tell which jobs and artifacts would go.")
@json_option
@data_option
def expire(
    jobs: float | None,
    evaluations: float | None,
    audit: float | None,
    dry_run: bool,
    as_json: bool,
    settings: Settings,
) -> None:
    """Delete what was kept long enough, and artifacts that nothing refers to any more.

    Of jobs only those that have ended, and in any case deleted ones that cannot be restored any
    more; artifacts of the last day stay.
    """
    from service.runtime import open_storage
    from storage.retention import Expired

    storage = open_storage(settings)
    try:
        now = storage.retention.now()
        if dry_run:
            found = {
                "jobs": [] if jobs is None else storage.retention.expired_jobs(now - jobs),
                "deleted": storage.retention.lapsed_jobs(now),
                "artifacts": storage.retention.unreferenced_artifacts(),
            }
            print_json(found) if as_json else say(
                f"hamtune: {len(found['jobs'])} jobs, {len(found['deleted'])} deleted jobs and "
                f"{len(found['artifacts'])} artifacts"
            )
            return
        made = None if evaluations is None else now - evaluations
        gone, outcomes = storage.retention.expire(
            jobs=None if jobs is None else now - jobs, evaluations=made
        )
        expired = Expired(
            jobs=gone,
            deleted=storage.retention.delete_lapsed_jobs(now),
            evaluations=outcomes,
            networks=0 if made is None else storage.retention.forget_networks(made),
            audit=0 if audit is None else storage.audit.forget(now - audit),
            artifacts=storage.retention.delete_unreferenced_artifacts(),
        )
    finally:
        storage.close()
    if as_json:
        print_json(asdict(expired))
    else:
        counts = [f"{n} {_NOUNS.get(name, name)}" for name, n in asdict(expired).items()]
        say("hamtune: deleted for good " + ", ".join(counts))


@click.command(epilog=example("hamtune migrate"))
@click.option(
    "--wait",
    metavar="TIME",
    default="5min",
    show_default=True,
    callback=seconds_of,
    help="How long to wait for a database that is away.",
)
@json_option
@data_option
def migrate(wait: float, as_json: bool, settings: Settings) -> None:
    """Bring the tables of the database up to date.

    Every process also does so as it starts. A database that is away is waited for.
    """
    storage = _opened_within(wait, settings)
    try:
        kind, revision = storage.kind, storage.revision()
    finally:
        storage.close()
    if as_json:
        print_json({"database": kind, "revision": revision})
    else:
        say(f"hamtune: the tables ({kind}) are of revision {revision}")


def _opened_within(seconds: float, settings: Settings) -> Storage:
    """The storage, once the database is there.

    Raises:
        HamtuneError: It is not there in time.
    """
    from service.retry import Stopped
    from service.runtime import open_storage

    over = threading.Event()
    timer = threading.Timer(min(seconds, threading.TIMEOUT_MAX), over.set)
    timer.daemon = True
    timer.start()
    try:
        return open_storage(settings, until=over)
    except Stopped:
        raise HamtuneError(
            f"the database was away for {format_duration(seconds)}; --wait gives it longer"
        ) from None
    finally:
        timer.cancel()


COMMANDS = [backup, expire, migrate]
