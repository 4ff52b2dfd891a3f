"""From a configuration and a machine to what the simulator is asked to run.

`completion` brings a configuration into its one form, `network` builds and orders its network,
`placement` puts the ranks on it, `algorithms` says which collective algorithms cannot be used,
`smpi` names it all as SMPI does, and `resolving` puts these together. `identity` is the key of the
evaluation cache.
"""

from searchspace.platform.algorithms import chosen_algorithms, collective_obstacle
from searchspace.platform.completion import complete
from searchspace.platform.errors import Infeasible
from searchspace.platform.identity import evaluation_key
from searchspace.platform.names import GIVEN, MAPPER_OPTIONS
from searchspace.platform.network import TrafficOf, network_of
from searchspace.platform.placement import written_out
from searchspace.platform.resolved import Resolved
from searchspace.platform.resolving import resolve
from searchspace.platform.smpi import model_options

__all__ = [
    "GIVEN",
    "MAPPER_OPTIONS",
    "Infeasible",
    "Resolved",
    "TrafficOf",
    "chosen_algorithms",
    "collective_obstacle",
    "complete",
    "evaluation_key",
    "model_options",
    "network_of",
    "resolve",
    "written_out",
]
