"""The format `simgrid`: what plain smpirun needs to rerun the best configuration."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from searchspace.builtins import BUILTINS
from searchspace.collectives import COLLECTIVES, DEFAULT, LIBRARIES
from searchspace.collectives.by_size import lines_of
from searchspace.formats.operations import decode
from searchspace.formats.simgrid_xml import hostfile, platform_xml
from searchspace.formats.time_independent import NotConvertible, time_independent
from searchspace.formats.trace import TraceHeader, read_header, read_operations
from searchspace.platform import Resolved, model_options
from service.exports.result import ExportFile, Result
from service.exports.transport import unsaid_lines
from service.exports.wording import origin_lines
from storage.errors import Conflict
from workers.capture import APPLICATIONS, builtin_sources

__all__ = ["export_simgrid", "smpi_options"]

REPLAY = Path(__file__).with_name("replay.c")
MARKS = Path(__file__).with_name("marks.c")

RUN_SH = """\
#!/bin/sh
# Reruns {what} of Hamtune's job {job} with plain smpirun.
# Usage: ./run.sh{usage}
set -eu
{prepare}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
smpirun -np {ranks} -platform "$here/platform.xml" -hostfile "$here/hostfile" \\
{options}
  --cfg=smpi/display-timing:yes --log=root.fmt:%.15r@%m%n \\
  {command} >"$log" 2>&1 || {{ cat "$log" >&2; exit 1; }}
simulated=$(sed -n 's/^\\([0-9.]*\\)@Simulated time: .*/\\1/p' "$log")
[ -n "$simulated" ] || {{ cat "$log" >&2; exit 1; }}
echo "simulated time: $simulated s"
{found}
"""

_NAMED_BEFORE = {"exchange": "graph500"}
"""Programs that traces captured by earlier versions call by another name."""

_NO_SETTINGS = "They are settings of the transport, which mean nothing to the fluid model."

HERE = 'here=$(cd "$(dirname "$0")" && pwd)'

README = """\
{origin}
{kind} time {value!r} s ({model}), found with {versions}.
{yardsticks}
platform.xml  the network as a SimGrid platform: {hosts} hosts, {cables} cables, every route
hostfile      the host of every rank, in rank order
run.sh        reruns the configuration and prints the simulated time; needs SimGrid, 3.32 or later
{application}

{unknown}Options of SimGrid, as they stand in run.sh:
{options}
"""


@dataclass(frozen=True)
class _Application:
    """How the application is rerun: files, a command of the shell to make it, one to run it."""

    files: list[ExportFile]
    prepare: str
    command: str
    note: str
    options: dict[str, str]
    usage: str = ""


def export_simgrid(result: Result) -> list[ExportFile]:
    """Platform, hostfile, the application and the script that reruns them.

    Raises:
        Conflict: The job has several applications, which plain smpirun does not run at once.
    """
    if result.application.kind == "workload":
        raise Conflict(
            f"job {result.job.name!r} runs several applications at once, which smpirun cannot; "
            "export it as json"
        )
    application = _application(result)
    fluid = result.machine.simulated_by("fluid")
    options = {**_known_options(result), **model_options(fluid), **application.options}
    name = " ".join(result.job.name.split())
    script = RUN_SH.format(
        what=result.what,
        job=name,
        usage=application.usage,
        prepare=application.prepare,
        ranks=result.application.ranks,
        options="\n".join(
            f"  {shlex.quote(f'--cfg={option}:{value}')} \\" for option, value in options.items()
        ),
        command=application.command,
        found="\n".join(f'echo "found by Hamtune: {time}"' for time in _times(result)),
    )
    readme = README.format(
        origin="\n".join(origin_lines(result)),
        kind="Simulated" if result.simulated else "Measured",
        value=result.value,
        model=result.model,
        yardsticks=_yardsticks(result),
        versions=", ".join(f"{part} {version}" for part, version in result.versions.items()),
        hosts=result.resolved.hosts,
        cables=len(result.resolved.edges),
        application=application.note,
        options="\n".join(f"  {option} = {value}" for option, value in options.items()),
        unknown=_unknown(result),
    )
    return [
        ExportFile(name="README.txt", content=readme.encode()),
        ExportFile(name="platform.xml", content=platform_xml(result.resolved).encode()),
        ExportFile(name="hostfile", content=hostfile(result.resolved).encode()),
        ExportFile(name="run.sh", content=script.encode(), executable=True),
        *application.files,
    ]


def _own_choices(result: Result) -> dict[str, str]:
    """The choices that are ours, by collective: SMPI by itself has nothing of these names."""
    found = {}
    for name, collective in COLLECTIVES.items():
        lines = lines_of(result.configuration, name)
        if len(lines) > 1:
            found[name] = "size"
            continue
        chosen = lines[0].algorithm
        if chosen == DEFAULT:
            chosen = str(result.configuration.get("mpi", DEFAULT))
        algorithm = None if chosen == DEFAULT else collective.algorithms[chosen]
        if algorithm is not None and algorithm.own and algorithm.same_in_smpi is None:
            found[name] = chosen
    return found


def _known_options(result: Result) -> dict[str, str]:
    """The options without the choices that are ours; these are left to SMPI's table."""
    own = {f"smpi/{name}" for name in _own_choices(result)}
    options = {
        name: value for name, value in smpi_options(result.resolved).items() if name not in own
    }
    mpi = str(result.configuration.get("mpi", DEFAULT))
    if mpi in LIBRARIES:
        options["smpi/coll-selector"] = LIBRARIES[mpi]
    return dict(sorted(options.items()))


def smpi_options(resolved: Resolved) -> dict[str, str]:
    """The options of a configuration, with algorithms by the names that SMPI has for them."""
    return {name: _in_smpi(name, str(value)) for name, value in resolved.options.items()}


def _in_smpi(option: str, value: str) -> str:
    """An option's value by the name that SMPI has for it."""
    collective = COLLECTIVES.get(option.removeprefix("smpi/"))
    algorithm = None if collective is None else collective.algorithms.get(value)
    return value if algorithm is None else algorithm.same_in_smpi or value


def _unknown(result: Result) -> str:
    """What plain smpirun does not simulate, as a paragraph."""
    called = result.application.summary["calls"]
    own = {name: chosen for name, chosen in _own_choices(result).items() if name in called}
    if not own:
        return ""
    told = ", ".join(f"{name} by {chosen}" for name, chosen in own.items())
    return (
        f"Plain smpirun does not have {told}: it takes an algorithm of its own there, and gives\n"
        "another time.\n\n"
    )


def _times(result: Result) -> list[str]:
    """What the script sets beside the time that smpirun gives."""
    if not result.simulated:
        return [f"{result.value!r} s {result.model}"]
    if result.machine.trial_model == "fluid":
        return [f"{result.value!r} s"]
    packets = f"{result.value!r} s by packets, which smpirun does not know: see README.txt"
    return [packets] if result.fluid is None else [f"{result.fluid!r} s by fluid", packets]


def _yardsticks(result: Result) -> str:
    """Why smpirun gives another time where packets decided, as a paragraph."""
    if result.machine.trial_model == "fluid":
        return ""
    factors = result.machine.simulated_by("fluid").model_text.removeprefix("fluid, ")
    time = (
        "Hamtune has not simulated that, or not in time"
        if result.fluid is None
        else f"that is {result.fluid!r} s"
    )
    settings = "".join(f"{line}\n" for line in unsaid_lines(result, _NO_SETTINGS))
    return f"""
Plain smpirun knows the fluid model only, with factors on bandwidth and latency
({factors}): {time}.
It is another yardstick, so the two times differ. In a fluid all messages share
the cables at once; as packets they wait in queues, follow each other between
two ranks, and go by a protocol. Compare times of one model only.
{settings}"""


def _application(result: Result) -> _Application:
    header = read_header(result.trace)
    if result.application.kind == "builtin":
        named = _NAMED_BEFORE.get(header.program, header.program)
        header = header.model_copy(update={"program": named})
    # What a program reads from a file is in its trace.
    if result.application.kind == "builtin" and not BUILTINS[header.program].files:
        return _builtin(header)
    try:
        return _stock_trace(result.trace, header)
    except NotConvertible as reason:
        return _program_of_the_user(header, reason)


def _builtin(header: TraceHeader) -> _Application:
    sources = [
        APPLICATIONS / "hamtune_app.h",
        *sorted((APPLICATIONS / "common").glob("**/*.h")),
        *sorted((APPLICATIONS / header.program).glob("*.h")),
        *builtin_sources(header.program),
    ]
    files = [
        ExportFile(name=f"application/{path.relative_to(APPLICATIONS)}", content=path.read_bytes())
        for path in sources
    ]
    compiled = " ".join(shlex.quote(file.name) for file in files if file.name.endswith(".c"))
    program = shlex.quote(header.program)
    line = f"smpicc -O2 -DHAMTUNE_DECLARE_FLOPS -Iapplication {compiled} -lm -o {program}"
    return _Application(
        files,
        prepare=f'{HERE}\ncd "$here"\n{line}',
        command=shlex.join([f"./{header.program}", *header.arguments]),
        note=f"application/  the program's sources, compiled with\n              {line}",
        options={"smpi/simulate-computation": "no"},
    )


def _stock_trace(trace: Path, header: TraceHeader) -> _Application:
    names = [f"trace/rank-{rank}.txt" for rank in range(header.ranks)]
    files = [ExportFile(name="replay.c", content=REPLAY.read_bytes())]
    for rank, name in enumerate(names):
        lines = time_independent(rank, header.ranks, decode(read_operations(trace, rank)))
        files.append(ExportFile(name=name, content="".join(lines).encode()))
    listing = "".join(f"{name}\n" for name in names)
    files.append(ExportFile(name="trace/ranks.txt", content=listing.encode()))
    return _Application(
        files,
        prepare=f'{HERE}\ncd "$here"\nsmpicc -O2 replay.c -o replay',
        command="./replay trace",
        note="trace/        the trace in SimGrid's time-independent format\n"
        "replay.c      plays it as an MPI program; SimGrid's own player (smpirun -replay\n"
        "              trace/ranks.txt) crashes on several algorithms of collectives",
        options={"smpi/simulate-computation": "no"},
    )


def _program_of_the_user(header: TraceHeader, reason: NotConvertible) -> _Application:
    declared = header.host_speed is None
    # As the capture did.
    options = (
        {"smpi/simulate-computation": "no"}
        if declared
        else {"smpi/host-speed": f"{header.host_speed!r}f"}
    )
    computation = (
        "then counts only the computation that the program declares, as Hamtune did, and the\n"
        "times should agree."
        if declared
        else "then measures anew what it computes, and the time differs from Hamtune's by that."
    )
    return _Application(
        files=[ExportFile(name="marks.c", content=MARKS.read_bytes())],
        prepare=f'[ $# -gt 0 ] || {{ echo "usage: run.sh PROGRAM [ARGUMENT]..." >&2; exit 2; }}\n'
        f"{HERE}",
        command='"$@"',
        note="marks.c       compile it into a program that calls MPI_Pcontrol: SMPI has none\n\n"
        "The application is not here. Its trace cannot be written in SimGrid's format,\n"
        f"since {reason}. Give run.sh the program,\n"
        "compiled with smpicc and the flags of the capture, and its arguments. SimGrid\n"
        f"{computation}",
        options=options,
        usage=" PROGRAM [ARGUMENT]...",
    )
