"""Exports that an agent writes by itself, from what a service says as data.

Nothing of a service is run or read by a shell: hosts are numbers in the agent's own list, settings
are those of the library's algorithms and transport, and scripts are written here.
"""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from measuring.clusters import Library
from searchspace.collectives.equivalents.openmpi import ALGORITHM_IDS
from searchspace.collectives.equivalents.openmpi_rules import Rules, dynamic_rules
from searchspace.errors import InvalidInput
from service.exports.manifest import MANIFEST

__all__ = ["check_plan", "write_export"]

_NAMES: Mapping[Library, re.Pattern[str]] = {
    "openmpi": re.compile(
        r"coll_tuned_[a-z0-9_]+(?<!filename)"
        r"|coll_han_priority"
        r"|btl_tcp_(flags|links|eager_limit|rndv_eager_limit|max_send_size|sndbuf|rcvbuf"
        r"|min_rdma_pipeline_size|rdma_pipeline_send_length|rdma_pipeline_frag_size"
        r"|free_list_[a-z]+|progress_thread)"
    ),
    "mpich": re.compile(
        r"MPIR_CVAR_(?!.*(FILE|PATH|DIR))[A-Z0-9_]+"
        r"|UCX_(RNDV_THRESH|ZCOPY_THRESH|TCP_[A-Z_]+|MAX_EAGER_[A-Z]+|MAX_RNDV_[A-Z]+)"
    ),
}
"""What may be set. Other parameters name commands, libraries and files."""
_VALUE = re.compile(r"[A-Za-z0-9_.,:+-]{1,64}")
_RANKS = re.compile(r"[1-9][0-9]{0,6}")
_NUMBERS = 3
"""Of a line of rules: bytes, algorithm, segment."""
_MOST_BYTES = 1 << 62
_MOST_RANKS = 65_536
_MOST_SETTINGS = 500
_EXECUTABLE = 0o755


def check_plan(plan: Any, library: Library, hosts: int, cores_per_host: int) -> None:
    """Refuse a plan that says more than an agent may do.

    Raises:
        InvalidInput: It is no plan, sets what may not be set, or does not fit the cluster.
    """
    if not isinstance(plan, Mapping) or set(plan) - {"rules"} != {"ranks", "hosts", "settings"}:
        raise InvalidInput("what the service sends is no plan: it must have ranks, hosts, settings")
    ranks, places, settings = plan["ranks"], plan["hosts"], plan["settings"]
    if type(ranks) is not int or not 1 <= ranks <= min(_MOST_RANKS, hosts * cores_per_host):
        raise InvalidInput(
            f"{ranks!r} ranks do not fit {hosts} hosts with {cores_per_host} cores each"
        )
    if places is not None:
        known = isinstance(places, list) and all(type(host) is int for host in places)
        if not known or len(places) != ranks or not all(0 <= host < hosts for host in places):
            raise InvalidInput(f"the plan must name one of {hosts} hosts, by number, for each rank")
        counts: Counter[int] = Counter(places)
        host, most = counts.most_common(1)[0]
        if most > cores_per_host:
            raise InvalidInput(
                f"{most} ranks on host {host} are more than its {cores_per_host} cores"
            )
    if not isinstance(settings, Mapping) or len(settings) > _MOST_SETTINGS:
        raise InvalidInput("the settings of a plan must be names with values")
    for name, value in settings.items():
        if not isinstance(name, str) or not _NAMES[library].fullmatch(name):
            raise InvalidInput(f"the setting {str(name)[:100]!r} is none that an agent sets")
        if not isinstance(value, str) or not _VALUE.fullmatch(value):
            raise InvalidInput(f"the value {str(value)[:100]!r} of {name} is none that is allowed")
    if "rules" in plan and (library != "openmpi" or not _are_rules(plan["rules"])):
        raise InvalidInput("the rules of a plan must be numbers, by collective and by ranks")


def _are_rules(rules: Any) -> bool:
    """Whether these are Open MPI's rules as numbers: what a file of them may say, and no more."""
    if not isinstance(rules, Mapping) or not set(rules) <= set(ALGORITHM_IDS):
        return False
    return all(
        isinstance(blocks, Mapping)
        and len(blocks) <= _MOST_SETTINGS
        and all(
            isinstance(ranks, str)
            and _RANKS.fullmatch(ranks)
            and _is_block(lines, len(ALGORITHM_IDS[collective]))
            for ranks, lines in blocks.items()
        )
        for collective, blocks in rules.items()
    )


def _is_block(lines: Any, algorithms: int) -> bool:
    """Whether these are lines by increasing bytes, from 0 on, of algorithms that there are."""
    if not isinstance(lines, list) or not 1 <= len(lines) <= _MOST_SETTINGS:
        return False
    numbers = all(
        isinstance(line, list)
        and len(line) == _NUMBERS
        and all(type(number) is int and 0 <= number < _MOST_BYTES for number in line)
        for line in lines
    )
    if not numbers or any(line[1] >= algorithms for line in lines):
        return False
    begins = [line[0] for line in lines]
    return begins[0] == 0 and begins == sorted(set(begins))


def write_export(
    plan: Mapping[str, Any], library: Library, hosts: Sequence[str], directory: Path
) -> Path | None:
    """Write what a checked plan installs, as an export of this library has it.

    Returns:
        The directory; None for the library's defaults.
    """
    places, settings = plan["hosts"], plan["settings"]
    if places is None:
        return None
    names = [hosts[host] for host in places]
    if library == "openmpi":
        script, launcher = _openmpi(names, settings, plan.get("rules"), directory)
    else:
        script, launcher = _mpich(names, settings, directory)
    manifest = {
        "format": library,
        "target": library,
        "ranks": plan["ranks"],
        "exported": {"command": [f"./{script}"], "environment": {}},
        "launcher_variable": launcher,
    }
    (directory / MANIFEST).write_text(json.dumps(manifest))
    return directory


def _openmpi(
    names: Sequence[str],
    settings: Mapping[str, str],
    rules: Mapping[str, Any] | None,
    directory: Path,
) -> tuple[str, str]:
    parameters = "".join(f"{name} = {value}\n" for name, value in settings.items())
    (directory / "mca-params.conf").write_text(parameters)
    counts = Counter(names)
    hostfile = "".join(f"{name} slots={count}\n" for name, count in counts.items())
    (directory / "hostfile").write_text(hostfile)
    slots: Counter[str] = Counter()
    lines = []
    for rank, name in enumerate(names):
        lines.append(f"rank {rank}={name} slot={slots[name]}\n")
        slots[name] += 1
    (directory / "rankfile").write_text("".join(lines))
    places = '--hostfile "$here/hostfile" --rankfile "$here/rankfile"'
    before = "" if rules is None else _rules(rules, directory)
    command = f'"$MPIRUN" -np {len(names)} {places}'
    return _script(directory, "mpirun.sh", before, command), "MPIRUN"


def _rules(rules: Mapping[str, Any], directory: Path) -> str:
    """Write the file of rules; the lines of a script that name it to the library."""
    read: Rules = {
        collective: {
            int(ranks): [(since, (algorithm, segment)) for since, algorithm, segment in lines]
            for ranks, lines in blocks.items()
        }
        for collective, blocks in rules.items()
    }
    (directory / "dynamic-rules.conf").write_text(dynamic_rules(read))
    return (
        "export OMPI_MCA_coll_tuned_use_dynamic_rules=1\n"
        'export OMPI_MCA_coll_tuned_dynamic_rules_filename="$here/dynamic-rules.conf"\n'
    )


def _mpich(names: Sequence[str], settings: Mapping[str, str], directory: Path) -> tuple[str, str]:
    (directory / "hostfile").write_text("".join(f"{name}:1\n" for name in names))
    exports = "".join(f"export {name}={shlex.quote(value)}\n" for name, value in settings.items())
    command = f'"$MPIEXEC" -f "$here/hostfile" -n {len(names)}'
    return _script(directory, "mpiexec.sh", exports, command), "MPIEXEC"


def _script(directory: Path, name: str, before: str, command: str) -> str:
    path = directory / name
    here = 'here=$(cd "$(dirname "$0")" && pwd)\n'
    path.write_text(f'#!/bin/sh\n{here}{before}exec {command} "$@"\n')
    path.chmod(_EXECUTABLE)
    return name
