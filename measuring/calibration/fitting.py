"""The machine whose simulated times are nearest to what was measured."""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from measuring.agreement import quantile
from measuring.calibration.calibrated import Compared
from measuring.calibration.experiments import Experiment
from measuring.calibration.fits import closed_forms
from measuring.calibration.fits.least_squares import (
    LeastSquaresFit,
    Point,
    cost,
    fit_least_squares,
    residuals,
)
from measuring.calibration.fits.numbers import (
    LOOPBACK,
    PARAMETERS,
    Numbers,
    Parameter,
    with_numbers,
)
from measuring.calibration.fits.start import best_starts
from measuring.calibration.patterns import COPIES, IN_A_ROW
from measuring.calibration.simulate import SimulatedCluster
from searchspace.errors import HamtuneError
from searchspace.machine import Machine

__all__ = ["Fitted", "fit"]

NOT_SIMULATED = ("computation", "copy")
"""Kinds that show a number by themselves, and are nothing to the network."""
MODEL_ERROR = 0.02
"""What a model of queues and overheads is not expected to come nearer to, relative."""
CROWD_ERROR = 0.05
"""The same where all hosts talk at once, and TCP decides who goes first."""
SMALL_ERROR = 0.2
"""The same of what processors decide, whose time depends on what else they did."""
_CROWDS = ("shift", "shuffle", "all to all", "pipeline", "first of many")
_OF_PROCESSORS = ("gap", "send returns")
_FIRST_GUESS_ALONE = "unexpected"
"""Messages that lie ready are received at once. Ranks that wait for one are woken for it, which is
most of what a message costs its receiver, so these say what it costs at least."""
_GUESS_ERROR = 1.0
_STARTS = 3
"""Of the fit: the best of many guesses."""
_PASSING = 1024
"""Bytes of a message that is one packet: what it takes is that of processors, and they differ."""
_NOISE = 0.5
"""Spread of half the repetitions of the middle experiment above which there is nothing to fit."""
_NORMAL_QUARTERS = 1.349
_FIRST_BURST = 1500.0
_LEAST_REACH = 5e-6
"""Seconds of latency a hop that are allowed however little of it shows."""
_CLEARLY = 0.97
"""Part of what remains of the protocol's own variant under which another one is taken."""
_VARIANTS: Mapping[str, Sequence[Mapping[str, Any]]] = {
    "exchange": (
        {"exchange": "full", "stagger": 0.0},
        {"exchange": "half", "stagger": 0.0},
        *({"exchange": "ordered", "stagger": stagger} for stagger in (0.0, 5e-5, 1e-4, 2e-4)),
    ),
    "turn": tuple({"turn": size} for size in (65536, 16384, 0)),
    "trains": tuple({"trains": trains} for trains in (64, 16, 8, 4, 2, 1)),
    "switching": ({"switching": "cut-through"}, {"switching": "store-and-forward"}),
}
"""By the field that tells them apart: fields that go together."""
_BUFFERS = (1, 2, 5, 10)
"""Times what a large send leaves to the transport. Some libraries copy small messages in a row, and
wait for large ones: one number is to say both."""


@dataclass(frozen=True)
class Fitted:
    """A machine with fitted numbers, without where they come from.

    Attributes:
        machine: It.
        intervals: Of each number, between which values it lies with 95% confidence.
        compared: Every simulated experiment.
    """

    machine: Machine
    intervals: Mapping[str, tuple[float, float]]
    compared: Sequence[Compared]


def fit(
    machine: Machine,
    measured: Mapping[Experiment, Sequence[float]],
    protocol: Mapping[str, Any],
    say: Callable[[str], None] = lambda _: None,
) -> Fitted:
    """Fit the numbers of a machine to what was measured on it.

    Args:
        machine: As its vendor describes it.
        measured: Seconds of the repetitions of each experiment.
        protocol: Fields of the protocol that are known already, such as the eager limit.
        say: Told how it goes.

    Raises:
        HamtuneError: Repetitions differ too much.
    """
    experiments = [each for each in measured if each.kind not in NOT_SIMULATED]
    middle = {each: statistics.median(measured[each]) for each in measured}
    points = [_point(each, measured[each]) for each in experiments]
    _check_noise([measured[each] for each in experiments])
    parameters = PARAMETERS + (LOOPBACK if machine.cores_per_host > 1 else ())
    first = _first_guesses(machine, middle)
    parameters = tuple(_within_reach(each, first) for each in parameters)
    own = machine.protocol
    assert own is not None, "of the packets model"
    fields = {name for values in _VARIANTS.values() for value in values for name in value}
    known = {**{name: getattr(own, name) for name in sorted(fields)}, **protocol}
    with SimulatedCluster(machine, experiments, often=True) as cluster:

        def seconds(numbers: Numbers) -> list[float]:
            return cluster.seconds(with_numbers(machine, numbers, known))

        # First, for numbers that are fitted under the wrong variant go astray; and again by better
        # numbers.
        _choose_variants(known, first, points, seconds, say)
        starts = best_starts(first, points, seconds, count=_STARTS)
        fit = _least_squares(parameters, starts, points, seconds, say)
        _choose_variants(known, fit.numbers, points, seconds, say)
        fit = fit_least_squares(parameters, fit.numbers, points, seconds, say)
        numbers = dict(fit.numbers)
        copying = closed_forms.copy_bandwidth(middle, COPIES)
        if machine.cores_per_host == 1 and copying is not None:
            numbers["loopback_bandwidth"] = copying
        best = with_numbers(machine, numbers, known)
        simulated = cluster.seconds(best)
    compared = [
        Compared(
            each,
            middle[each],
            quantile(measured[each], 0.25),
            quantile(measured[each], 0.75),
            time,
        )
        for each, time in zip(experiments, simulated, strict=True)
    ]
    return Fitted(best, fit.intervals, compared)


def _least_squares(
    parameters: Sequence[Parameter],
    starts: Sequence[Numbers],
    points: Sequence[Point],
    seconds: Callable[[Numbers], Sequence[float]],
    say: Callable[[str], None],
) -> LeastSquaresFit:
    """The best of fits from several starts.

    Small messages of pairs that share a core and of others differ, and a fit may stay
    between them: two starts that are as good end at very different ones.
    """
    found = [fit_least_squares(parameters, start, points, seconds, say) for start in starts]
    return min(found, key=lambda each: each.cost)


def _within_reach(parameter: Parameter, first: Numbers) -> Parameter:
    """The parameter, with no more of latency than how ping-pongs grow with hops allows.

    Crowds of small messages, whom processors hold up, are explained by latency as well as by
    overheads; what is alone on the cables tells the two apart.
    """
    if parameter.name != "link_latency":
        return parameter
    most = max(_LEAST_REACH, 2 * first["link_latency"])
    return dataclasses.replace(parameter, most=min(parameter.most, most))


def _choose_variants(
    known: dict[str, Any],
    numbers: Numbers,
    points: Sequence[Point],
    seconds: Callable[[Numbers], Sequence[float]],
    say: Callable[[str], None],
) -> None:
    """Sets variants of the protocol in `known` where others explain clearly more than its own."""
    buffers = tuple({"send_buffer": times * known["send_buffer"]} for times in _BUFFERS)
    for name, values in {**_VARIANTS, "send_buffer": buffers}.items():
        own = {field: known[field] for field in values[0]}
        costs = []
        for value in (own, *values):
            known.update(value)
            costs.append(cost(residuals(points, seconds(numbers))))
        least = min(costs)
        best = (own, *values)[costs.index(least)] if least < _CLEARLY * costs[0] else own
        known.update(best)
        told = ", ".join(
            f"{'/'.join(map(str, value.values()))} {each:.1f}"
            for value, each in zip(values, costs[1:], strict=True)
        )
        say(f"{name}: {'/'.join(map(str, best.values()))} (remaining: {told})")


def _point(experiment: Experiment, seconds: Sequence[float]) -> Point:
    middle = statistics.median(seconds)
    quarters = quantile(seconds, 0.75) - quantile(seconds, 0.25)
    noise = quarters / _NORMAL_QUARTERS / middle / max(1, len(seconds)) ** 0.5
    return Point(middle, (noise**2 + _floor(experiment) ** 2) ** 0.5)


def _floor(experiment: Experiment) -> float:
    """How near a model is expected to come to an experiment, relative."""
    if experiment.kind == _FIRST_GUESS_ALONE:
        return _GUESS_ERROR
    if experiment.kind in _OF_PROCESSORS or experiment.bytes <= _PASSING:
        return SMALL_ERROR
    if experiment.kind in _CROWDS:
        return CROWD_ERROR
    return MODEL_ERROR


def _check_noise(seconds: Sequence[Sequence[float]]) -> None:
    spreads = [
        (quantile(each, 0.75) - quantile(each, 0.25)) / statistics.median(each) for each in seconds
    ]
    middle = statistics.median(spreads)
    if middle > _NOISE:
        raise HamtuneError(
            f"repetitions of the same messages differ by {middle:.0%}, which is more noise than "
            "can be fitted; see what else runs on the hosts and on the network, and calibrate when "
            "that is over"
        )


def _first_guesses(machine: Machine, middle: Mapping[Experiment, float]) -> Numbers:
    protocol = machine.protocol
    assert protocol is not None, "checked before"
    found = {
        "link_bandwidth": closed_forms.bandwidth(middle, protocol),
        "link_latency": closed_forms.latency(middle),
        "burst": _FIRST_BURST,
        "loopback_bandwidth": machine.loopback_bandwidth,
        "loopback_latency": machine.loopback_latency,
    }
    shown = {
        "send_overhead": ("gap", "send"),
        "isend_overhead": ("gap", "isend"),
        "receive_overhead": ("unexpected", ""),
    }
    for name, (kind, detail) in shown.items():
        seconds, per_byte = closed_forms.overhead(middle, kind, detail, IN_A_ROW)
        found |= {f"{name}.seconds": seconds, f"{name}.per_byte": per_byte}
    # What an exchange of a byte takes beside that is waking the rank that waits for it.
    woken = closed_forms.shortest_message(middle) - found["send_overhead.seconds"]
    found["receive_overhead.seconds"] = max(
        found["receive_overhead.seconds"], woken - found["link_latency"]
    )
    return found
