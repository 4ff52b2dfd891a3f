"""Where the study of trust measures: emulated clusters, exports, and traces, in one directory."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from measuring.clusters import Cluster, Library
from measuring.launch_lines import launcher_of, library_version
from measuring.testbed_cluster import TestbedCluster
from measuring.trust.cases import CALIBRATED_ON, NETWORKS, SLOW_SCALE, TARGET_OF
from measuring.trust.record import record
from searchspace.configuration import Configuration
from searchspace.machine import Machine
from service.exports.standalone import export_configuration
from testbed.clusters import bring_up, take_down
from testbed.plan import scaled

__all__ = ["TrustLaboratory"]


class TrustLaboratory:
    """What the study needs, each thing made at its first use and kept.

    Args:
        directory: Where.
        say: Told what is being done.
    """

    def __init__(self, directory: Path, say: Callable[[str], None]) -> None:
        self.directory = directory
        self._say = say

    @contextmanager
    def cluster(self, network: str, scale: float) -> Iterator[Cluster]:
        """An emulated cluster, up until it is left."""
        name = f"trust-{network}-{scale:g}-{os.getpid()}"
        self._say(f"bringing up {network}, rates divided by {scale:g}")
        testbed, _ = bring_up(NETWORKS[network].machine(), name, scale=scale)
        try:
            yield TestbedCluster(testbed)
        finally:
            take_down(name)

    @staticmethod
    def machine(network: str, scale: float) -> Machine:
        """The machine that such a cluster is, by its data sheet: nothing measured."""
        return scaled(NETWORKS[network].machine(), scale)

    def export(
        self, configuration: Configuration, network: str, library: Library, ranks: int
    ) -> Path:
        """Files that install a configuration."""
        name = configuration.sha256[:16]
        directory = self.directory / "exports" / library / network / str(ranks) / name
        if not directory.exists():
            export_configuration(
                NETWORKS[network].machine(),
                configuration,
                TARGET_OF[library],
                directory,
                ranks=ranks,
            )
        return directory

    def programs(self, names: list[str], host_speed: float) -> dict[str, Path]:
        """Traces of programs, recorded on the network that the machine is calibrated on."""
        directory = self.directory / "traces"
        found = {name: directory / f"{name}.ht" for name in names}
        missing = [name for name in names if not found[name].exists()]
        if missing:
            with self.cluster(CALIBRATED_ON, SLOW_SCALE) as cluster:
                for name in missing:
                    self._say(f"recording {name}")
                    record(name, cluster, directory, host_speed)
        return found

    @staticmethod
    def versions() -> dict[str, str]:
        """What is measured with."""
        libraries: tuple[Library, ...] = ("openmpi", "mpich")
        found = {library: library_version(library, [launcher_of(library)]) for library in libraries}
        return {
            **{name: version for name, version in found.items() if version},
            "kernel": os.uname().release,
            "cores": json.dumps(len(os.sched_getaffinity(0))),
        }
