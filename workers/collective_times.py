"""What one call of a collective takes on a machine, by algorithm, size and communicator."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from searchspace.collectives import DEFAULT
from searchspace.collectives.equivalents.decisions import option
from searchspace.errors import InvalidInput
from searchspace.formats.operations import encode
from searchspace.formats.time_independent import NOT_COMMUTATIVE
from searchspace.formats.trace import TraceHeader, write_trace
from searchspace.platform import Resolved
from workers.simulator_client import Simulator

__all__ = ["Asked", "CollectiveTimes", "one_call", "simulate_collectives"]

_GIVEN_UP = 3.0
"""An algorithm that takes so many times as long as the fastest so far need not end."""
_WORD = 4


@dataclass(frozen=True)
class Asked:
    """A collective in a communicator.

    Attributes:
        collective: Its name.
        ranks: Of the communicator, which is the first of the machine's places.
        sizes: Bytes of a call: of the whole vector, but of the block of one rank for allgather,
            alltoall, gather and scatter.
        algorithms: SMPI's names.
        library: The decision table that tells the library's own choice, of `SELECTORS`.
        non_commutative: Whether the operation of a reduction does not commute.
    """

    collective: str
    ranks: int
    sizes: tuple[int, ...]
    algorithms: tuple[str, ...]
    library: str
    non_commutative: bool = False


@dataclass(frozen=True)
class CollectiveTimes:
    """What an asked collective takes.

    Attributes:
        seconds: By bytes, by algorithm, `default` for the library's own choice; an algorithm that
            failed or was given up is missing. Where the library's own choice failed there is none.
        failed: By bytes, why the library's own choice cannot be simulated.
        more_than: The same of those that were given up: what they take at least.
        cpu_seconds: What it cost.
        evaluations: How many simulations there were.
    """

    seconds: Mapping[int, Mapping[str, float]]
    more_than: Mapping[int, Mapping[str, float]]
    failed: Mapping[int, str]
    cpu_seconds: float
    evaluations: int


def simulate_collectives(
    resolved: Resolved,
    asked: Sequence[Asked],
    *,
    at_once: int = 1,
    done: Callable[[int], None] = lambda _: None,
) -> list[CollectiveTimes]:
    """Simulate one call, which all ranks begin together, until the last of them has ended it.

    Args:
        resolved: The cluster, with its network; a communicator of n ranks is that of the first n
            of its ranks.
        asked: What is to be simulated.
        at_once: How many simulators work side by side; results do not depend on it.
        done: Called with how many of `asked` have ended, from any thread, one at a time.

    Raises:
        InvalidInput: More ranks are asked for than there are.
    """
    for one in asked:
        if one.ranks > len(resolved.rank_hosts):
            raise InvalidInput(f"there are {len(resolved.rank_hosts)} ranks, not {one.ranks}")
    lock = threading.Lock()
    ended = 0

    def simulate(one: Asked) -> CollectiveTimes:
        nonlocal ended
        found = _simulate(resolved, one)
        with lock:
            ended += 1
            done(ended)
        return found

    # The dearest first, so that none of them is begun when all others have ended.
    order = sorted(range(len(asked)), key=lambda at: -asked[at].ranks)
    with ThreadPoolExecutor(at_once) as pool:
        waiting = {at: pool.submit(simulate, asked[at]) for at in order}
        try:
            return [waiting[at].result() for at in range(len(asked))]
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def one_call(collective: str, ranks: int, size: int, *, non_commutative: bool = False) -> bytes:
    """The operations of a rank that calls a collective once."""
    word = _WORD if size % _WORD == 0 else 1
    count = size // word
    blocks = {"send_count": count, "send_size": word, "recv_count": count, "recv_size": word}
    fields: dict[str, Any] = blocks
    if collective == "barrier":
        fields = {}
    elif collective in ("allreduce", "bcast", "reduce"):
        fields = {"count": count, "size": word}
    elif collective == "reduce_scatter":
        word = _WORD if size % _WORD == 0 and size >= _WORD * ranks else 1
        part, rest = divmod(size // word, ranks)
        fields = {"size": word, "counts": [part + (rank < rest) for rank in range(ranks)]}
    if non_commutative:
        fields["flags"] = NOT_COMMUTATIVE
    return encode(collective, **fields) + encode("finalize")


def _simulate(resolved: Resolved, asked: Asked) -> CollectiveTimes:
    request = resolved.simulator_request()
    request["applications"][0]["hosts"] = list(resolved.rank_hosts[: asked.ranks])
    seconds: dict[int, dict[str, float]] = {}
    failed: dict[int, str] = {}
    more_than: dict[int, dict[str, float]] = {}
    cost, evaluations = 0.0, 0
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hamtune-calls-")))
        traces = [*_traces(asked, folder)]
        simulator = stack.enter_context(Simulator(traces))
        first: tuple[str, ...] = asked.algorithms
        for trace, size in enumerate(asked.sizes):
            request["applications"][0]["trace"] = trace
            at = seconds.setdefault(size, {})
            for name in (DEFAULT, *first):
                choice = asked.library if name == DEFAULT else name
                request["options"] = {
                    **resolved.options,
                    f"smpi/{asked.collective}": option(asked.collective, choice),
                }
                cutoff = _GIVEN_UP * min(at.values()) if at else None
                answer = simulator.evaluate(request, cutoff=cutoff)
                cost += answer["cpu_seconds"]
                evaluations += 1
                if answer["status"] == "completed":
                    at[name] = float(answer["simulated_time"])
                elif answer["status"] == "censored":
                    more_than.setdefault(size, {})[name] = float(answer["simulated_time"])
                elif name == DEFAULT:
                    failed[size] = answer["reason"]["message"]
                    break
            # What was fast is tried first, so that what is slow is given up soon.
            first = tuple(sorted(asked.algorithms, key=lambda name: at.get(name, float("inf"))))
    return CollectiveTimes(seconds, more_than, failed, cost, evaluations)


def _traces(asked: Asked, folder: Path) -> Iterator[Path]:
    header = TraceHeader(ranks=asked.ranks, program=asked.collective)
    for size in asked.sizes:
        path = folder / f"{size}.ht"
        call = one_call(asked.collective, asked.ranks, size, non_commutative=asked.non_commutative)
        write_trace(path, header, [call] * asked.ranks)
        yield path
