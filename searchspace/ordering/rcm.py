"""Reverse Cuthill-McKee (Cuthill and McKee 1969; George 1971), by SciPy."""

from __future__ import annotations

import numpy as np

from searchspace.graph import Graph
from searchspace.ordering.ordering import Ordering

__all__ = ["RCM"]


def _order(graph: Graph, *, seed: int) -> tuple[int, ...]:
    from scipy.sparse import csr_array  # here, since most commands do without
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    ends = np.asarray(graph.edges, dtype=np.int32).reshape(-1, 2)
    rows = np.concatenate([ends[:, 0], ends[:, 1]])
    columns = np.concatenate([ends[:, 1], ends[:, 0]])
    matrix = csr_array(
        (np.ones(len(rows), dtype=np.int8), (rows, columns)), shape=(graph.nodes, graph.nodes)
    )
    return tuple(reverse_cuthill_mckee(matrix, symmetric_mode=True).tolist())


RCM = Ordering("rcm", "small bandwidth of the adjacency matrix (reverse Cuthill-McKee)", _order)
