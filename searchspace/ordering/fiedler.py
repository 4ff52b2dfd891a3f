"""Spectral order: by the Fiedler vector (Fiedler 1973; Juvan and Mohar 1992)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from searchspace.errors import InvalidInput
from searchspace.graph import Graph
from searchspace.ordering.ordering import Ordering

__all__ = ["FIEDLER", "fiedler_vector"]

_DENSE_NODES = 512  # below this the dense solver is as fast, and direct
_DIGITS = 9  # components that agree to this are ties: the rest is rounding


def fiedler_vector(graph: Graph) -> NDArray[np.float64]:
    """The eigenvector of the Laplacian's second least eigenvalue, shape (nodes,), unit length.

    Its sign is such that the first component that is not zero is positive.

    Raises:
        InvalidInput: The network is not connected.
    """
    if not graph.connected:
        raise InvalidInput("the network is not connected")
    if graph.nodes == 1:
        return np.zeros(1)
    # Here, since most commands do without what takes half a second.
    from scipy.sparse import csr_array, diags_array
    from scipy.sparse.linalg import eigsh

    ends = np.asarray(graph.edges, dtype=np.int32).reshape(-1, 2)
    half = csr_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(graph.nodes,) * 2)
    matrix = csr_array(diags_array(np.asarray(graph.degrees, dtype=float)) - (half + half.T))
    if graph.nodes <= _DENSE_NODES:
        vector = np.linalg.eigh(matrix.toarray())[1][:, 1]
    else:
        # Shift and invert a little below zero, where the matrix is regular; the start is fixed so
        # that the result is repeatable.
        start = np.cos(np.arange(graph.nodes))
        values, vectors = eigsh(matrix, k=2, sigma=-1e-3, v0=start)
        vector = vectors[:, int(np.argmax(values))]
    leading = vector[np.abs(vector) > 10.0**-_DIGITS]
    return vector if leading.size == 0 or leading[0] > 0 else -vector


def _order(graph: Graph, *, seed: int) -> tuple[int, ...]:
    ranking = np.round(fiedler_vector(graph), _DIGITS)
    return tuple(np.argsort(ranking, kind="stable").tolist())


FIEDLER = Ordering("fiedler", "by the second eigenvector of the Laplacian", _order)
