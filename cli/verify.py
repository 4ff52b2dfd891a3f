"""`hamtune verify`: what an export gains on the cluster where it is installed."""

from __future__ import annotations

import json
import math
import os
import random
import re
import shlex
import statistics
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from cli.client import connect
from cli.options import (
    command_argument,
    example,
    json_option,
    print_json,
    say,
    seed_option,
    server_option,
)
from searchspace.errors import HamtuneError, InvalidInput
from searchspace.formats.plain_file import check_plain
from searchspace.units import format_duration
from service.settings import Settings
from tuner.convergence import speedup as simulated_gain

__all__ = ["COMMANDS", "gain"]

CONFIDENCE = 0.95
MICROBENCHMARK = "microbenchmark"
_TIMED = r"^seconds: ([0-9.]+)$"
_SHOWN = 15
_LAUNCHERS = ("mpirun", "mpiexec", "mpirun_rsh", "orterun", "prterun", "srun")


@click.command(
    context_settings={"ignore_unknown_options": True},
    epilog=example(
        "hamtune verify cg-64/                          the collectives alone",
        "hamtune verify cg-64/ --runs 10 -- ./cg.A.64   a program, by the time of its runs",
        "hamtune verify cg-64/ --time-from 'Time in seconds = *([0-9.]+)' --send -- ./cg.A.64",
    ),
)
@click.argument("export", type=click.Path(exists=True, file_okay=False, path_type=Path))
@command_argument(
    "hamtune verify EXPORT [--runs N] -- PROGRAM ARGUMENTS", metavar="[-- COMMAND...]"
)
@click.option(
    "--runs",
    type=click.IntRange(2, 1000),
    default=5,
    show_default=True,
    help="Pairs of runs, after one of each that does not count.",
)
@click.option(
    "--time-from",
    metavar="REGEX",
    help="Takes the seconds from what the program prints: the first group. By default they are "
    "those of the run, with the start of its processes.",
)
@click.option(
    "--mpicc",
    envvar="MPICC",
    default="mpicc",
    show_default=True,
    help="Compiler of the microbenchmark.",
)
@click.option("--send", is_flag=True, help="Send the measurement to the service that has the job.")
@seed_option
@json_option
@server_option
def verify(
    export: Path,
    command: tuple[str, ...],
    runs: int,
    time_from: str | None,
    mpicc: str,
    send: bool,
    seed: int,
    as_json: bool,
    server: str | None,
    settings: Settings,
) -> None:
    """Measure what an export gains, by running it and the library's defaults alternately.

    EXPORT is the directory of an export for an MPI library. Without a command, a microbenchmark of
    the collectives that the job's application calls is compiled and run. Both run on the hosts of
    the export; the defaults with the library's own order of ranks and choice of algorithms.
    """
    manifest = _manifest(export)
    pattern = _pattern(time_from)
    program = list(command)
    if program and Path(program[0]).name.partition(".")[0] in _LAUNCHERS:
        raise click.UsageError(
            f"give the program alone, not {program[0]}: the export starts it with its own launcher"
        )
    if not program:
        if pattern is not None:
            raise click.UsageError("--time-from goes with a command")
        program = _microbenchmark(export, manifest, mpicc)
        pattern = re.compile(_TIMED, re.MULTILINE)
    ways = {name: _Way.of(export, manifest, name, program) for name in ("exported", "default")}
    seconds = _timed(ways, pattern, runs, seed)
    speedup, interval = gain(seconds["exported"], seconds["default"])
    simulated = manifest["simulated"]
    # Where the library cannot run the choices, what ran here is what the files hold.
    held = simulated.get("really") if manifest.get("unlike") else simulated["exported"]
    measurement = {
        "format": manifest["format"],
        "command": list(command),
        "exported_seconds": seconds["exported"],
        "default_seconds": seconds["default"],
        "speedup": speedup,
        "interval": list(interval),
        "confidence": CONFIDENCE,
        "simulated_speedup": simulated_gain(simulated["default"], held),
    }
    if send:
        with connect(server, settings) as client:
            kept = client.post(f"/jobs/{manifest['job']}/measurements", measurement)
        say(f"hamtune: kept as measurement {kept['id']} of job {manifest['job']}")
    if as_json:
        print_json(measurement)
    else:
        _show(measurement, simulated.get("model", "fluid"))


COMMANDS = [verify]


def _timed(
    ways: Mapping[str, _Way], pattern: re.Pattern[str] | None, runs: int, seed: int
) -> dict[str, list[float]]:
    """The seconds of each way, run in pairs of random order after one run that does not count."""
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for way in ways.values():
        way.run(pattern)
    rng = random.Random(seed)  # noqa: S311 (the order of runs is no secret)
    for number in range(runs):
        for name in rng.sample(list(ways), 2):
            seconds[name].append(ways[name].run(pattern))
        say(
            f"run {number + 1} of {runs}: exported {format_duration(seconds['exported'][-1])}, "
            f"default {format_duration(seconds['default'][-1])}"
        )
    return seconds


def _show(measurement: Mapping[str, Any], model: str) -> None:
    speedup = measurement["speedup"]
    low, high = measurement["interval"]
    click.echo(
        f"measured speed-up {speedup:.3f} ({CONFIDENCE:.0%} confidence: {low:.3f} to {high:.3f})"
    )
    expected = measurement["simulated_speedup"]
    click.echo(
        "simulated speed-up: not known, the untuned network could not be simulated"
        if expected is None
        else f"simulated speed-up {expected:.3f} ({model})"
    )
    if low <= 1.0 <= high:
        click.echo("the runs do not tell whether the export is faster; try more of them")


def gain(exported: Sequence[float], default: Sequence[float]) -> tuple[float, tuple[float, float]]:
    """The speed-up default / exported of pairs of runs, and its confidence interval.

    The geometric mean of the pairs' ratios; Student's t on their logarithms.

    Args:
        exported: Seconds, at least two.
        default: Seconds of the other run of each pair.
    """
    from scipy.stats import t  # half a second that no other command should pay for

    ratios = [math.log(slow / fast) for fast, slow in zip(exported, default, strict=True)]
    middle = statistics.fmean(ratios)
    error = statistics.stdev(ratios) / math.sqrt(len(ratios))
    reach = float(t.ppf(0.5 + CONFIDENCE / 2, len(ratios) - 1)) * error
    return math.exp(middle), (math.exp(middle - reach), math.exp(middle + reach))


@dataclass(frozen=True)
class _Way:
    """One of the two ways in which the program is run."""

    name: str
    folder: Path
    command: list[str]
    environment: dict[str, str]
    unset: frozenset[str]

    @classmethod
    def of(cls, folder: Path, manifest: dict[str, Any], name: str, program: list[str]) -> _Way:
        way = manifest[name]
        start = list(way["command"])
        if start[0].startswith("./"):
            start[0] = str(folder.resolve() / start[0])
        else:
            start[0] = os.environ.get(manifest["launcher_variable"], start[0])
            start[-1] = str(folder.resolve() / start[-1])
        return cls(
            name,
            folder,
            [*start, *program],
            dict(way["environment"]),
            frozenset(way.get("unset", ())),
        )

    def run(self, pattern: re.Pattern[str] | None) -> float:
        """Seconds of one run.

        Raises:
            HamtuneError: It fails, or does not print what `pattern` looks for.
        """
        kept = {name: value for name, value in os.environ.items() if name not in self.unset}
        begun = time.perf_counter()
        try:
            done = subprocess.run(
                self.command,
                env={**kept, **self.environment},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
            )
        except OSError as error:
            raise HamtuneError(f"{self.command[0]} cannot be started: {error.strerror}") from None
        took = time.perf_counter() - begun
        if done.returncode:
            said = (done.stdout + done.stderr).strip().splitlines()[-_SHOWN:]
            by_hand = ["nothing was printed; try it by hand:", f"  {shlex.join(self.command)}"]
            what = f"the {self.name} run failed with status {done.returncode}:"
            raise HamtuneError("\n".join([what, *(said or by_hand)]))
        if pattern is None:
            return took
        found = pattern.search(done.stdout)
        if found is None:
            raise HamtuneError(f"the {self.name} run does not print what --time-from looks for")
        try:
            seconds = float(found[1])
        except ValueError:
            raise InvalidInput(f"--time-from found {found[1]!r}, which is no number") from None
        if not seconds > 0:
            raise HamtuneError(f"the {self.name} run says that it took {seconds} s")
        return seconds


def _pattern(text: str | None) -> re.Pattern[str] | None:
    if text is None:
        return None
    try:
        pattern = re.compile(text, re.MULTILINE)
    except re.error as error:
        raise InvalidInput(f"--time-from: not a regular expression: {error}") from None
    if not pattern.groups:
        raise InvalidInput("--time-from: needs a group around the seconds: '([0-9.]+)'")
    return pattern


def _manifest(export: Path) -> dict[str, Any]:
    path = export / "export.json"
    check_plain(path)
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        found = sorted(str(one.parent) for one in export.glob("*/export.json"))
        hint = f"; it holds: {', '.join(found)}" if found else ""
        raise InvalidInput(
            f"{export} is no export for an MPI library, which has an export.json{hint}"
        ) from None
    except (UnicodeDecodeError, ValueError):
        raise InvalidInput(f"{path} is not what 'hamtune export' wrote") from None


def _microbenchmark(export: Path, manifest: dict[str, Any], mpicc: str) -> list[str]:
    """Compile the microbenchmark beside the export, where all hosts see it."""
    if not manifest["collectives"]:
        raise HamtuneError("the application calls no collectives; give a command to run")
    program = export.resolve() / MICROBENCHMARK
    source = program.with_suffix(".c")
    try:
        done = subprocess.run(
            [mpicc, "-O2", str(source), "-o", str(program)],
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError as error:
        raise HamtuneError(f"{mpicc} cannot be started: {error.strerror}; see --mpicc") from None
    if done.returncode:
        said = done.stderr.splitlines()[-_SHOWN:]
        raise HamtuneError("\n".join([f"{mpicc} cannot compile {source}:", *said]))
    return [str(program), *manifest["collectives"]]
