"""`export.json`: what `hamtune verify` has to know of an export to measure it on a cluster."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from searchspace.collectives.equivalents import TARGETS, Target
from searchspace.units import format_duration
from service.exports.nearest import unlike
from service.exports.placement import text_file
from service.exports.result import ExportFile, Result

__all__ = ["MANIFEST", "MICROBENCHMARK", "differences", "verification_files"]

MANIFEST = "export.json"
MICROBENCHMARK = "microbenchmark.c"
DEFAULT_HOSTS = "default-hostfile"

_SOURCE = Path(__file__).with_name(MICROBENCHMARK)


def differences(files: Iterable[ExportFile]) -> list[str]:
    """Says of manifests which libraries run something else than was simulated, and its time."""
    found = []
    for file in files:
        if file.name.rpartition("/")[2] != MANIFEST:
            continue
        manifest = json.loads(file.content)
        if not manifest["unlike"]:
            continue
        simulated = manifest["simulated"]
        really, exported = simulated["really"], simulated["exported"]
        took = ""
        if really is not None and exported is not None:
            took = (
                f": what is exported takes {format_duration(really)} simulated, not "
                f"{format_duration(exported)}"
            )
        title = TARGETS[manifest["target"]].title
        found.append(f"{title} does not run all that was simulated{took}")
    return found


def verification_files(
    result: Result,
    target: Target,
    *,
    script: str,
    environment: Mapping[str, str],
    undone: Mapping[str, str],
    unset: Iterable[str] = (),
    launcher: str,
    host_line: str,
    hosts_option: str,
    ranks_option: str,
) -> list[ExportFile]:
    """The manifest, the microbenchmark, and the hosts as they would be listed without tuning.

    Args:
        result: What is exported.
        target: For which library.
        script: That starts a program as exported.
        environment: Forces the choices where the script does not.
        undone: Keeps what is installed of the export from acting on the defaults.
        unset: What is taken from the environment for the same reason.
        launcher: The library's command.
        host_line: Line of the default list of hosts, with `{host}` and `{slots}`.
        hosts_option: Of the launcher, before that list.
        ranks_option: Of the launcher, before the number of ranks.
    """
    ranks = result.application.ranks
    used: dict[int, int] = {}
    for host in result.resolved.rank_hosts:
        used[host] = used.get(host, 0) + 1
    order = result.resolved.order
    hosts = sorted(used, key=lambda host: order[host])
    lines = (host_line.format(host=result.names[host], slots=used[host]) + "\n" for host in hosts)
    default = [launcher, ranks_option, str(ranks), hosts_option, DEFAULT_HOSTS]
    document = {
        "format": target.format,
        "target": target.name,
        "job": None if result.origin else result.job.id,
        "trial": None if result.origin else result.trial.number,
        "ranks": ranks,
        "collectives": [
            name for name in result.calls if name in result.application.summary["calls"]
        ],
        "simulated": {
            "exported": result.value if result.simulated and not result.origin else None,
            "default": result.untuned.get(target.selector),
            "really": result.really.get(target.name),
            "model": result.machine.model_text,
        },
        "unlike": [choice.line for choice in unlike(result, target)],
        "exported": {"command": [f"./{script}"], "environment": dict(environment)},
        "default": {"command": default, "environment": dict(undone), "unset": list(unset)},
        "launcher_variable": launcher.upper(),
    }
    return [
        text_file(MANIFEST, json.dumps(document, indent=2, allow_nan=False) + "\n"),
        ExportFile(name=MICROBENCHMARK, content=_SOURCE.read_bytes()),
        text_file(DEFAULT_HOSTS, *lines),
    ]
