from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

def level_instructions() -> str: ...

class Distances:
    def __init__(
        self, nodes: int, degree: int, symmetry: int, orbits: NDArray[np.uint32]
    ) -> None: ...
    def evaluate(self) -> tuple[int, int]: ...

class Annealing:
    EPOCH: int
    def __init__(
        self,
        nodes: int,
        degree: int,
        symmetry: int,
        kept: NDArray[np.uint32],
        orbits: NDArray[np.uint32],
        hot: float,
        cold: float,
        iterations: int,
        diameter_goal: int,
        penalty: int,
        scramble: int,
        seed: int,
    ) -> None: ...
    def resume(self, epoch: int, best: NDArray[np.uint32]) -> None: ...
    def run(self, epochs: int, goal: int) -> None: ...
    def finished(self, goal: int) -> bool: ...
    @property
    def epoch(self) -> int: ...
    @property
    def evaluations(self) -> int: ...
    @property
    def accepted(self) -> int: ...
    @property
    def best_cost(self) -> int: ...
    @property
    def best_diameter(self) -> int: ...
    @property
    def orbits(self) -> NDArray[np.uint32]: ...
    @property
    def best(self) -> NDArray[np.uint32]: ...

class TrafficAnnealing:
    EPOCH: int
    def __init__(
        self,
        nodes: int,
        symmetry: int,
        cables: NDArray[np.uint32],
        one: NDArray[np.uint32],
        other: NDArray[np.uint32],
        volume: NDArray[np.float64],
        background: float,
        iterations: int,
        seed: int,
    ) -> None: ...
    def resume(self, epoch: int, cables: NDArray[np.uint32], best: NDArray[np.uint32]) -> None: ...
    def run(self, epochs: int) -> None: ...
    @property
    def finished(self) -> bool: ...
    @property
    def epoch(self) -> int: ...
    @property
    def evaluations(self) -> int: ...
    @property
    def terms(self) -> tuple[float, float]: ...
    @property
    def cables(self) -> NDArray[np.uint32]: ...
    @property
    def best(self) -> NDArray[np.uint32]: ...

class Widening:
    def __init__(
        self,
        nodes: int,
        degree: int,
        symmetry: int,
        kept: NDArray[np.uint32],
        orbits: NDArray[np.uint32],
        seed: int,
    ) -> None: ...
    def run(self, searches: int, aim: int) -> int: ...
    @property
    def width(self) -> int: ...
    @property
    def proposals(self) -> int: ...
    @property
    def best(self) -> NDArray[np.uint32]: ...

class CoverSurvey:
    def __init__(self, nodes: int, degree: int, unit: int) -> None: ...
    def run(
        self, searches: int, aim: int, seed: int, closeness: int = 1
    ) -> tuple[int, int, NDArray[np.uint32]] | None: ...
    def walkers(self) -> list[tuple[int, int, int, float, NDArray[np.uint32]]]: ...
    def restore(self, walkers: list[tuple[int, int, int, float, NDArray[np.uint32]]]) -> None: ...

class Tradeoff:
    def __init__(
        self,
        nodes: int,
        degree: int,
        edges: NDArray[np.uint32],
        lengths: NDArray[np.float64],
        hop: float,
        length: float,
        cut: float,
        hot: float,
        cold: float,
        moves: int,
        seed: int,
    ) -> None: ...
    def run(self, moves: int) -> None: ...
    @property
    def finished(self) -> bool: ...
    @property
    def done(self) -> int: ...
    @property
    def best(self) -> NDArray[np.uint32]: ...

class CubicSearch:
    def __init__(self, nodes: int, girth: int) -> None: ...
    def run(self, edges: int) -> list[tuple[NDArray[np.uint32], int, int]]: ...
    def resume(self, place: list[int], tried: int, known: bytes) -> None: ...
    @property
    def finished(self) -> bool: ...
    @property
    def roots(self) -> int: ...
    @property
    def done(self) -> int: ...
    @property
    def tried(self) -> int: ...
    @property
    def found(self) -> int: ...
    @property
    def place(self) -> list[int]: ...
    @property
    def known(self) -> bytes: ...

class RegressionForest:
    def __init__(
        self, features: NDArray[np.float32], targets: NDArray[np.float64], trees: int, seed: int
    ) -> None: ...
    def predict(self, features: NDArray[np.float32]) -> NDArray[np.float64]: ...

def bisect(
    nodes: int, edges: NDArray[np.uint32], starts: int, seed: int, counted: int = 0
) -> tuple[int, NDArray[np.uint8]]: ...
def anneal_splits(
    nodes: int, edges: NDArray[np.uint32], sweeps: int, seed: int, counted: int = 0
) -> tuple[int, NDArray[np.uint8]]: ...
def polish_bisection(
    nodes: int, edges: NDArray[np.uint32], sides: NDArray[np.uint8], counted: int = 0
) -> tuple[int, NDArray[np.uint8]]: ...
def metis_split(
    nodes: int, edges: NDArray[np.uint32], tries: int, seed: int, counted: int = 0
) -> NDArray[np.uint8]: ...
def hop_distances(nodes: int, edges: NDArray[np.uint32]) -> NDArray[np.uint16]: ...
def distance_summary(nodes: int, edges: NDArray[np.uint32]) -> tuple[int, int, int]: ...
def merge_repeats(
    layouts: list[str], paths: list[str], output: str
) -> tuple[int, list[float], bool]: ...
def routes(
    nodes: int, edges: NDArray[np.uint32], hosts: int, tie_rule: str
) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.uint8]]: ...
def hamiltonian_walk(
    nodes: int, edges: NDArray[np.uint32], seed: int, restarts: int
) -> list[int]: ...
def gorder(nodes: int, edges: NDArray[np.uint32], window: int) -> list[int]: ...
def block_order(
    nodes: int,
    edges: NDArray[np.uint32],
    start: list[int],
    sizes: list[int],
    adjacent_share: float,
    moves: int,
    seed: int,
) -> list[int]: ...
def anneal_swaps(
    ranks: int,
    pairs: NDArray[np.uint32],
    weights: list[int],
    hosts: int,
    edges: NDArray[np.uint32],
    start: list[int],
    free_hops: int,
    moves: int,
    seed: int,
) -> tuple[list[int], int]: ...

class CoreHops:
    @staticmethod
    def tree(
        arity: list[int], host: NDArray[np.uint32], core: NDArray[np.uint32], inside: list[int]
    ) -> CoreHops: ...
    @staticmethod
    def grid(
        extents: list[int],
        wrapped: bool,
        host: NDArray[np.uint32],
        core: NDArray[np.uint32],
        inside: list[int],
    ) -> CoreHops: ...
    @staticmethod
    def dragonfly(
        groups: int,
        routers: int,
        hosts_per_router: int,
        host: NDArray[np.uint32],
        core: NDArray[np.uint32],
        inside: list[int],
    ) -> CoreHops: ...
    @staticmethod
    def network(
        nodes: int,
        edges: NDArray[np.uint32],
        hosts: int,
        host: NDArray[np.uint32],
        core: NDArray[np.uint32],
        inside: list[int],
    ) -> CoreHops: ...
    def table(
        self, rows: NDArray[np.uint32], columns: NDArray[np.uint32]
    ) -> NDArray[np.uint16]: ...

class CongestionAssignment:
    def __init__(
        self,
        first: NDArray[np.int64],
        partner: NDArray[np.uint32],
        size: NDArray[np.int64],
        hops: CoreHops,
        nodes: int,
        edges: NDArray[np.uint32],
        hosts: int,
        tie_rule: str,
        widths: list[int],
        places: NDArray[np.uint32],
    ) -> None: ...
    def places(self) -> NDArray[np.uint32]: ...
    def measures(self) -> tuple[int, int, int, float]: ...
    def after(self, rank: int, place: int) -> tuple[int, int, int, float]: ...
    def swap(self, rank: int, place: int) -> None: ...
    def loads(self) -> list[int]: ...
    def crossing(self, edge: int) -> list[tuple[int, int, int]]: ...
    def anneal(
        self,
        hop_bytes: float,
        dilation: float,
        congestion: float,
        seconds: float,
        steps: int,
        seed: int,
        proceed: Callable[[float], bool] | None,
    ) -> None: ...

class RoundAssignment:
    def __init__(
        self,
        ranks: int,
        round: NDArray[np.uint32],
        sender: NDArray[np.uint32],
        receiver: NDArray[np.uint32],
        size: NDArray[np.int64],
        count: NDArray[np.float64],
        host: NDArray[np.uint32],
        nodes: int,
        edges: NDArray[np.uint32],
        hosts: int,
        tie_rule: str,
        widths: list[int],
        interface: float,
        memory: float,
        places: NDArray[np.uint32],
    ) -> None: ...
    def places(self) -> NDArray[np.uint32]: ...
    def terms(self) -> tuple[float, float, float, float]: ...
    def after(self, rank: int, place: int) -> tuple[float, float, float, float]: ...
    def swap(self, rank: int, place: int) -> None: ...
    def work(self) -> float: ...
    def anneal(
        self, weights: tuple[float, float, float, float], hot: float, steps: int, seed: int
    ) -> None: ...

def map_auto(
    first: NDArray[np.int64],
    partner: NDArray[np.uint32],
    size: NDArray[np.int64],
    cores: CoreHops,
    start: NDArray[np.uint32],
    seconds: float,
    steps: int,
    threads: int,
    seed: int,
    proceed: Callable[[float, int], bool] | None,
) -> tuple[NDArray[np.uint32], str, int, float]: ...
def swap_changes(
    first: NDArray[np.int64],
    partner: NDArray[np.uint32],
    size: NDArray[np.int64],
    cores: CoreHops,
    start: NDArray[np.uint32],
    proposals: list[tuple[int, int]],
) -> list[tuple[int, int | None]]: ...
def propose_all(
    first: NDArray[np.int64],
    partner: NDArray[np.uint32],
    size: NDArray[np.int64],
    cores: CoreHops,
    start: NDArray[np.uint32],
    times: int,
    seed: int,
) -> NDArray[np.uint32] | None: ...
def bytes_by_hops(
    first: NDArray[np.int64],
    partner: NDArray[np.uint32],
    size: NDArray[np.int64],
    hops: CoreHops,
    placed: NDArray[np.uint32],
) -> list[int]: ...
def edge_loads(
    first: NDArray[np.int64],
    partner: NDArray[np.uint32],
    size: NDArray[np.int64],
    host: NDArray[np.uint32],
    nodes: int,
    edges: NDArray[np.uint32],
    hosts: int,
) -> list[int]: ...
def greedy_mapping(
    first: NDArray[np.int64],
    partner: NDArray[np.uint32],
    size: NDArray[np.int64],
    hops: CoreHops,
) -> list[int]: ...
def descend_by_swaps(
    first: NDArray[np.int64],
    partner: NDArray[np.uint32],
    size: NDArray[np.int64],
    hops: CoreHops,
    start: NDArray[np.uint32],
) -> list[int]: ...
def bisect_both(
    first: NDArray[np.int64],
    partner: NDArray[np.uint32],
    size: NDArray[np.int64],
    nodes: int,
    edges: NDArray[np.uint32],
    widths: list[int],
    holds: list[int],
    seed: int,
) -> list[int]: ...
def settle_within(
    first: NDArray[np.int64],
    partner: NDArray[np.uint32],
    size: NDArray[np.int64],
    hops: CoreHops,
    hosts: list[int],
    inside: list[int],
    within: bool,
    seed: int,
) -> list[int]: ...
def scotch_regular(
    first: NDArray[np.int64],
    partner: NDArray[np.uint32],
    size: NDArray[np.int64],
    shape: int,
    extents: list[int],
    each: int,
    strategy: int,
    seed: int,
) -> list[int]: ...
def scotch_network(
    first: NDArray[np.int64],
    partner: NDArray[np.uint32],
    size: NDArray[np.int64],
    hops: CoreHops,
    nodes: int,
    edges: NDArray[np.uint32],
    holds: list[int],
    strategy: int,
    seed: int,
) -> list[int]: ...
def recursive_tree(
    first: NDArray[np.int64],
    partner: NDArray[np.uint32],
    size: NDArray[np.int64],
    hops: CoreHops,
    arity: list[int],
    inside: list[int],
    within: bool,
    seed: int,
) -> list[int]: ...
def recursive_bipartition(
    first: NDArray[np.int64],
    partner: NDArray[np.uint32],
    size: NDArray[np.int64],
    hops: CoreHops,
    inside: list[int],
    within: bool,
    seed: int,
) -> list[int]: ...
def tree_match(
    first: NDArray[np.int64],
    partner: NDArray[np.uint32],
    size: NDArray[np.int64],
    arity: list[int],
    choice: int,
    split: bool,
    most_groups: int,
) -> list[int]: ...
def trace_summary(path: str) -> dict[str, Any]: ...
def rank_operations(path: str, rank: int) -> bytes: ...
def shared_parts(
    path: str,
) -> tuple[
    list[bytes],
    list[NDArray[np.float64]],
    list[tuple[int, int, NDArray[np.int32]]],
    list[int],
]: ...

class TraceWriter:
    def __init__(self, calls: int, flops: int) -> None: ...
    def feed(self, bytes: bytes) -> None: ...
    def end_rank(self) -> None: ...
    def blocks(self) -> dict[str, Any]: ...

def traffic_matrix(path: str) -> NDArray[np.int64]: ...
def filtered_traffic(
    path: str, point_to_point: bool, spreads: list[int], phase: int, members: list[int]
) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.int64]]: ...
def traffic_of_pairs(
    ranks: int, one: NDArray[np.int64], other: NDArray[np.int64], size: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.int64]]: ...
def traffic_of_sent(
    first: NDArray[np.int64], receiver: NDArray[np.uint32], size: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.int64]]: ...
def message_rounds(
    path: str, spreads: list[int], most: int
) -> tuple[
    NDArray[np.uint32],
    NDArray[np.uint32],
    NDArray[np.uint32],
    NDArray[np.int64],
    NDArray[np.float64],
]: ...

class CannotCut(Exception): ...

def trace_loops(path: str) -> list[dict[str, Any]]: ...
def truncate_trace(path: str, kept: int) -> dict[str, Any]: ...
