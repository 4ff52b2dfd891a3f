"""How far simulated times may be trusted: real MPI libraries on emulated clusters decide."""

from __future__ import annotations

import dataclasses
import datetime
import functools
import json
import math
import shutil
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from measuring.agreement import errors, grouped, quantile
from measuring.calibration import Log as CalibrationLog
from measuring.calibration import apply, calibrate, rescaled, under
from measuring.clusters import Library
from measuring.trust.accuracy import Accuracy, assess, bars, gains
from measuring.trust.cases import (
    CALIBRATED_ON,
    MANY_BYTES,
    MANY_BYTES_OF_A_VECTOR,
    SCALE,
    Case,
    Plan,
    plan,
)
from measuring.trust.known import CASES, Known, calibration_file, read_known
from measuring.trust.laboratory import TrustLaboratory
from measuring.trust.log import Log, medians
from measuring.trust.measure import measure
from measuring.trust.simulate import simulate
from searchspace.machine import Machine, parse_machine
from studies.laboratory import Laboratory
from studies.study import Cell, Findings, Plot, Points, Study, Table
from workers.simulator_client import simulator_version

__all__ = ["TRUST"]

_CALIBRATED = "packets, calibrated"
_MODELS = ("fluid", "packets", _CALIBRATED)
_MINUTES = 6.0
"""Of one calibration."""
_WORST = 12
"""Cases that are shown."""


def _run(laboratory: Laboratory) -> Findings:
    chosen = plan(quick=laboratory.quick)
    directory = laboratory.directory / ("trust-quick" if laboratory.quick else "trust")
    bench = TrustLaboratory(directory, laboratory.say)
    libraries = sorted({case.library for case in chosen.cases})
    calibrated = {
        library: _calibrated(bench, library, directory, laboratory) for library in libraries
    }
    known = _known(laboratory)
    log = _measured(chosen, known, bench, directory, laboratory)
    measured = {
        **{case: known.times[case].seconds for case in chosen.cases if case in known.times},
        **medians(log.rows),
    }
    programs = sorted({case.choice for case in measured if case.is_program})
    traces = bench.programs(programs, calibrated["openmpi"].host_speed) if programs else {}
    judged = {}
    for model in _MODELS:
        laboratory.say(f"simulating {len(measured)} cases: {model}")
        simulated = simulate(
            list(measured),
            functools.partial(_machine, model, bench, calibrated),
            traces,
            directory / "collectives",
        )
        judged[model] = assess(measured, simulated)
    return _findings(_Found(chosen, known, log, judged, calibrated, directory), bench)


@dataclass(frozen=True)
class _Found:
    """What the findings are made of."""

    plan: Plan
    known: Known
    log: Log
    judged: Mapping[str, Accuracy]
    calibrated: Mapping[Library, Machine]
    directory: Path


def _known(laboratory: Laboratory) -> Known:
    if laboratory.measured is None:
        return Known()
    return read_known(laboratory.measured / f"{TRUST.name}-{CASES}")


def _measured(
    chosen: Plan, known: Known, bench: TrustLaboratory, directory: Path, laboratory: Laboratory
) -> Log:
    """Measures what is not known."""
    done = {*known.times, *known.without}
    missing = dataclasses.replace(
        chosen, cases=tuple(case for case in chosen.cases if case not in done)
    )
    log = Log(directory / "measured.jsonl", _under(bench))
    measure(
        missing,
        bench.cluster,
        bench.export,
        log,
        directory / "built",
        seed=laboratory.seed,
        say=laboratory.say,
    )
    return log


def _calibrated(
    bench: TrustLaboratory, library: Library, directory: Path, laboratory: Laboratory
) -> Machine:
    """The machine calibrated for a library, once."""
    path = directory / f"calibrated-{library}.json"
    if path.exists():
        return parse_machine(json.loads(path.read_text()))
    runs = directory / calibration_file(library)
    is_known = laboratory.measured is not None
    if laboratory.measured is not None and not runs.exists():
        earlier = laboratory.measured / f"{TRUST.name}-{runs.name}"
        is_known = earlier.exists()
        if is_known:
            runs.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(earlier, runs)
    described = bench.machine(CALIBRATED_ON, SCALE)
    with bench.cluster(CALIBRATED_ON, SCALE) as cluster:
        log = CalibrationLog(runs, under(cluster, described, library, laboratory.seed))
        found = calibrate(
            cluster,
            described,
            library,
            log,
            seed=laboratory.seed,
            minutes=_MINUTES,
            measures_more=not is_known,
            say=laboratory.say,
        )
    path.write_text(found.machine.canonical_json)
    return found.machine


def _machine(
    model: str, bench: TrustLaboratory, calibrated: Mapping[Library, Machine], case: Case
) -> Machine:
    """The machine of a case as a model has it."""
    described = bench.machine(case.network, case.scale)
    if model == _CALIBRATED:
        return apply(rescaled(calibrated[case.library], 1.0 / case.scale), described)
    return described.simulated_by("fluid") if model == "fluid" else described


def _under(bench: TrustLaboratory) -> dict[str, Any]:
    return {"calls": [MANY_BYTES, MANY_BYTES_OF_A_VECTOR], **bench.versions()}


def _findings(found: _Found, bench: TrustLaboratory) -> Findings:
    judged = found.judged
    best = judged[_CALIBRATED]
    rows = found.log.rows
    doubtful = sum(1 for row in rows if row.doubts)
    missing = len(found.plan.cases) - len(best.pairs)
    earlier = sum(case in found.known.times for case in best.pairs)
    return Findings(
        (
            _bars(judged),
            _by(
                "operation", judged, lambda case: case.choice if case.is_program else case.operation
            ),
            _by("network", judged, lambda case: case.network),
            _by("library", judged, lambda case: case.library),
            _by("bytes", judged, lambda case: case.bytes),
            _programs(judged),
            _gains(best),
            _worst(judged),
        ),
        plots=tuple(_plot(model, accuracy) for model, accuracy in judged.items()),
        remarks=(
            f"{len(best.pairs)} cases, {len(best.regrets)} groups; {earlier} cases were measured "
            f"by an earlier run of the study. {len(rows)} runs now; {doubtful} did not count "
            f"and were made again; {missing} cases have no time that counts.",
            *_REMARKS,
        ),
        data=((CASES, _data(found, bench)), *_calibrations(found)),
    )


def _calibrations(found: _Found) -> list[tuple[str, str]]:
    """The runs that the machines were calibrated by."""
    files = [found.directory / calibration_file(library) for library in found.calibrated]
    return [(path.name, path.read_text()) for path in files if path.exists()]


def _bars(judged: Mapping[str, Accuracy]) -> Table:
    reached = {model: bars(accuracy) for model, accuracy in judged.items()}
    rows: list[tuple[Cell, ...]] = []
    for row in zip(*reached.values(), strict=True):
        met = row[list(judged).index(_CALIBRATED)].met
        rows.append((row[0].what, *(bar.found for bar in row), "met" if met else "MISSED"))
    ratios = (f"{accuracy.ratio:.1%}" for accuracy in judged.values())
    rows.append(("median error of the ratio of two algorithms", *ratios, ""))
    columns = ("bar", *judged, "calibrated")
    return Table("What a model has to reach", columns, tuple(rows))


def _by(name: str, judged: Mapping[str, Accuracy], of: Callable[[Case], Hashable]) -> Table:
    """Errors of cases that have something in common."""
    rows: list[tuple[Cell, ...]] = []
    pairs = {model: accuracy.pairs for model, accuracy in judged.items()}
    for group in grouped(pairs[_CALIBRATED], of):
        cases = list(group)
        cells: list[Cell] = [str(of(cases[0])), len(cases)]
        for found in pairs.values():
            off = errors(found[case] for case in cases)
            cells += [f"{quantile(off, 0.5):.1%}", f"{quantile(off, 0.9):.1%}"]
        rows.append(tuple(cells))
    columns = [name, "cases"]
    for model in judged:
        columns += [f"{model}: median", "90%"]
    rows.sort(key=lambda row: str(row[0]))
    return Table(f"Errors by {name}", tuple(columns), tuple(rows))


def _programs(judged: Mapping[str, Accuracy]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for case, pair in sorted(judged[_CALIBRATED].pairs.items()):
        if case.is_program:
            ratios = (f"{accuracy.pairs[case].ratio:.2f}" for accuracy in judged.values())
            rows.append((case.choice, case.network, case.library, f"{pair.measured:.3f}", *ratios))
    columns = ("program", "network", "library", "measured, s", *judged)
    return Table("Programs: simulated over measured", columns, tuple(rows))


def _gains(accuracy: Accuracy) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for gain in gains(accuracy):
        network, _, operation, size = gain.group
        rows.append(
            (operation, size, network, gain.chosen, f"{gain.measured:.2f}", f"{gain.simulated:.2f}")
        )
    return Table(
        "Gain of the algorithm chosen by simulation over the library's own choice",
        ("operation", "bytes", "network", "chosen", "measured", "simulated"),
        tuple(sorted(rows, key=str)),
    )


def _worst(judged: Mapping[str, Accuracy]) -> Table:
    pairs = judged[_CALIBRATED].pairs
    worst = sorted(pairs, key=lambda case: -abs(math.log(pairs[case].ratio)))[:_WORST]
    rows: list[tuple[Cell, ...]] = []
    for case in worst:
        ratios = (f"{accuracy.pairs[case].ratio:.2f}" for accuracy in judged.values())
        what = (case.operation, case.choice, case.bytes, case.network, case.library)
        rows.append((*what, f"{pairs[case].measured:.4f}", *ratios))
    columns = ("operation", "algorithm", "bytes", "network", "library", "measured, s", *judged)
    return Table("Farthest off: simulated over measured", columns, tuple(rows))


def _plot(model: str, accuracy: Accuracy) -> Plot:
    by_operation: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for case, pair in accuracy.pairs.items():
        by_operation[case.operation].append((pair.measured, pair.simulated))
    points = [
        Points(name, tuple(x for x, _ in found), tuple(y for _, y in found))
        for name, found in sorted(by_operation.items())
    ]
    every = [pair.measured for pair in accuracy.pairs.values()]
    ends = (min(every), max(every))
    points.append(Points("equal", ends, ends, joined=True))
    name = model.replace(",", "").replace(" ", "-")
    return Plot(name, model, "measured, s", "simulated, s", tuple(points), logarithmic="xy")


def _data(found: _Found, bench: TrustLaboratory) -> str:
    """Every case, with date and versions, and the machines that were calibrated."""
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    pairs = found.judged[_CALIBRATED].pairs
    times = found.known.times
    document = {
        "date": today,
        "versions": {**bench.versions(), "simulator": simulator_version()},
        "unit": "s",
        "calibrated": {
            library: json.loads(machine.canonical_json)
            for library, machine in found.calibrated.items()
        },
        "cases": [
            {
                **dataclasses.asdict(case),
                "calls": case.calls,
                "date": times[case].date if case in times else today,
                "measured": pair.measured,
                **{model: each.pairs[case].simulated for model, each in found.judged.items()},
            }
            for case, pair in sorted(pairs.items())
        ],
        "without": [
            {**dataclasses.asdict(case), "calls": case.calls}
            for case in found.plan.cases
            if case not in pairs
        ],
    }
    return json.dumps(document, indent=1) + "\n"


_REMARKS = (
    "Measured: real Open MPI and MPICH on emulated clusters ('hamtune testbed'), whose cables have "
    "a fiftieth of a gigabit; a two-hundredth where programs run or there are 64 hosts. Small "
    "collectives are called several times in a row, and timed three or five times.",
    "`fluid` and `packets` know the data sheet alone. `packets, calibrated` has numbers from "
    "'hamtune calibrate' on a ring of 16 hosts, which is none of the networks that are judged.",
    "The hosts of an emulated cluster share the processors of the machine that plays them; the "
    "calibrated machine knows that (`processors`), a real cluster has no such thing.",
    "A group is one collective of one size under one library on one network. Regret is the "
    "measured time of the algorithm that the model holds for the fastest over that of the fastest.",
    "The library's own choice is simulated by its own table, call by call.",
)

TRUST = Study(
    "trust",
    "Hamtune, measured against simulated",
    "real MPI libraries on emulated clusters beside three models",
    _run,
    "an hour",
    measures=True,
)
