"""The format `openmpi`: what an administrator of Open MPI 4.1 or 5 installs."""

from __future__ import annotations

from itertools import groupby

from searchspace.collectives.equivalents import TARGETS, Target
from searchspace.collectives.equivalents.openmpi_rules import (
    OF_ALL,
    Rule,
    Rules,
    dynamic_rules,
    rule,
)
from service.exports.choices import (
    Choice,
    by_size,
    choices,
    communicator_sizes,
    forced,
    table,
)
from service.exports.manifest import verification_files
from service.exports.placement import check_placed, ranks_of_hosts, slots, text_file
from service.exports.result import ExportFile, Result
from service.exports.transport import own_settings, settings_lines, transport_settings
from service.exports.wording import comment, origin_lines, readme

__all__ = ["export_openmpi", "rules_of"]

_LATER = "openmpi-5"

_INSTALL = """\
mca-params{later}.conf  append it to ~/.openmpi/mca-params.conf, or to openmpi-mca-params.conf of
    the installation (/etc/openmpi on Debian). Check: ompi_info --param coll tuned --level 9 shows
    each value with 'data source: file'. What is forced counts for communicators of all sizes.
dynamic-rules{later}.conf  says the same, but only for communicators of the sizes that were
    simulated, and leaves all others to the library. In the place of the parameters give mpirun
    --mca coll_tuned_use_dynamic_rules 1
    --mca coll_tuned_dynamic_rules_filename $PWD/dynamic-rules{later}.conf
    A file that is not there is ignored without a word; rules go before parameters."""

_TRANSPORT = """\
    The parameters of btl tcp in mca-params{later}.conf are no rules: with the rules, give them to
    mpirun as well (--mca NAME VALUE). They hold for all messages by TCP, and for none that goes
    another way, as by UCX or PSM2. Check: ompi_info --param btl tcp --level 9."""

_RANGES = """\
    Choices by size are in dynamic-rules{later}.conf alone: parameters cannot say them.
    mpirun{later}.sh names the file; elsewhere take the comment from the last line of
    mca-params{later}.conf and write there where the file is."""

_FILE_NAME = """\
# coll_tuned_dynamic_rules_filename = /where/it/is/dynamic-rules{later}.conf
"""

_PLACES = """\
hostfile, rankfile  how many ranks each host runs, and which: rank r on the r-th line
mpirun.sh  PROGRAM [ARGUMENT]... starts the program so, with mpirun or the command that MPIRUN
    names; --report-bindings before the program shows the places
export.json, default-hostfile, microbenchmark.c  for 'hamtune verify', which measures the gain"""


def export_openmpi(result: Result) -> list[ExportFile]:
    """Parameters and rules of each release, and where the ranks run.

    Raises:
        Conflict: The job has several applications, or a host a name that files do not take.
    """
    check_placed(result, "openmpi")
    targets = [TARGETS["openmpi-4.1"], TARGETS[_LATER]]
    if result.target is not None:
        targets = [result.target]
    files: list[ExportFile] = []
    told: list[list[str]] = []
    for target in targets:
        written, lines = _of_release(result, target)
        files += written
        told.append(lines)
    places = [
        text_file(
            "hostfile", *(f"{h} slots={len(r)}\n" for h, r in ranks_of_hosts(result).items())
        ),
        text_file(
            "rankfile", *(f"rank {r}={host} slot={slot}\n" for host, slot, r in slots(result))
        ),
    ]
    return [
        ExportFile(
            name="README.txt", content=readme(result, *told, _PLACES.splitlines(), targets=targets)
        ),
        *files,
        *places,
        *verification_files(
            result,
            targets[0],
            script=files[2].name,
            environment={
                f"OMPI_MCA_{name}": value for name, value in _settings(result, targets[0]).items()
            },
            undone={
                "OMPI_MCA_coll_tuned_use_dynamic_rules": "0",
                **{f"OMPI_MCA_{n}": v for n, v in own_settings(result, targets[0]).items()},
            },
            launcher="mpirun",
            host_line="{host} slots={slots}",
            hosts_option="--hostfile",
            ranks_option="-np",
        ),
    ]


def _of_release(result: Result, target: Target) -> tuple[list[ExportFile], list[str]]:
    """Parameters, rules and script of one release, and what the README says of them."""
    suffix = "-5" if target.name == _LATER else ""
    found = choices(result, target)
    has_ranges = bool(by_size(found))
    lines = _lines(target, found, settings_lines(result, target))
    origin = comment([*origin_lines(result, target), *lines])
    settings = _settings(result, target)
    parameters = "".join(f"{name} = {value}\n" for name, value in settings.items())
    named = _FILE_NAME.format(later=suffix) if has_ranges else ""
    script = _script(result, target, suffix, lines, has_ranges=has_ranges)
    rules = dynamic_rules(rules_of(result, found))
    files = [
        text_file(f"mca-params{suffix}.conf", origin, parameters, named),
        text_file(f"dynamic-rules{suffix}.conf", origin, rules),
        text_file(f"mpirun{suffix}.sh", script, executable=True),
    ]
    told = [*lines, "", *_INSTALL.format(later=suffix).splitlines()]
    if has_ranges:
        told += _RANGES.format(later=suffix).splitlines()
    if transport_settings(result, target):
        told += _TRANSPORT.format(later=suffix).splitlines()
    return files, told


def _settings(result: Result, target: Target) -> dict[str, str]:
    """All parameters of a result, those of the transport last."""
    return {**forced(choices(result, target), target), **transport_settings(result, target)}


def _lines(target: Target, found: list[Choice], transport: list[str]) -> list[str]:
    if target.checked_on:
        checked = f"the names and effects of these choices were checked on {target.checked_on}"
    else:
        checked = "not verified, this release was not run"
    lines = [f"For {target.title} ({checked}):", *table(found), *transport]
    reordered = [choice.collective for choice in found if _changes_order(choice, target)]
    if reordered:
        names = ", ".join(reordered)
        lines.append(f"{names}: right for operations that commute alone, as all of MPI's own do")
    return lines


def _changes_order(choice: Choice, target: Target) -> bool:
    """Whether a reduction is forced to an algorithm that does not keep the order of the ranks."""
    forced = bool(choice.offered.algorithm)
    return forced and not target.is_correct(choice.collective, choice.simulated)


def rules_of(result: Result, found: list[Choice]) -> Rules:
    """Rules that hold for the sizes of the communicators that were simulated, and no others."""
    rules: dict[str, dict[int, list[tuple[int, Rule]]]] = {}
    for collective, of in groupby(found, key=lambda choice: choice.collective):
        listed = list(of)
        if not any(choice.offered.algorithm for choice in listed):
            continue
        sizes = communicator_sizes(result.calls[collective], result.application.ranks)
        blocks = {size: [_ruled(choice, size) for choice in listed] for size in sizes}
        for size in sizes:
            blocks.setdefault(size + 1, [(0, (0, 0))])
        rules[collective] = blocks
    return rules


def _ruled(choice: Choice, ranks: int) -> tuple[int, Rule]:
    """From how many bytes on, as the library counts them, which rule holds."""
    since = choice.since * (ranks if choice.collective in OF_ALL else 1)
    if not choice.offered.algorithm:
        return since, (0, 0)
    settings = choice.offered.settings or {}
    return since, rule(choice.collective, choice.offered.algorithm, settings)


def _script(
    result: Result, target: Target, suffix: str, lines: list[str], *, has_ranges: bool
) -> str:
    """The script, which names the rules of a target with choices by size."""
    ranks = result.application.ranks
    places = (
        '--hostfile "$here/hostfile" --map-by "rankfile:file=$here/rankfile"'
        if suffix
        else '--hostfile "$here/hostfile" --rankfile "$here/rankfile"'
    )
    note = comment(lines[:1])
    return (
        f"#!/bin/sh\n{comment(origin_lines(result, target))}{note}"
        f'here=$(cd "$(dirname "$0")" && pwd)\n'
        f"{_named_rules(suffix, target) if has_ranges else ''}"
        f'exec "${{MPIRUN:-mpirun}}" -np {ranks} {places} "$@"\n'
    )


def _named_rules(suffix: str, target: Target) -> str:
    settings = {
        **dict(target.always),
        "coll_tuned_dynamic_rules_filename": f"$here/dynamic-rules{suffix}.conf",
    }
    return "".join(f'export OMPI_MCA_{name}="{value}"\n' for name, value in settings.items())
