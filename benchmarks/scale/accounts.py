"""CPU seconds of the parts of a job that runs in this process, and of the processes it starts."""

from __future__ import annotations

import functools
import importlib
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

__all__ = ["PARTS", "Accounts", "accounting"]

PARTS = {
    "networks": ("searchspace.platform.network._network",),
    "orderings": ("searchspace.platform.network._order",),
    "mappers": ("searchspace.platform.placement._map",),
    "requests": ("searchspace.platform.Resolved.simulator_request",),
    "preparing": ("workers.prepare.Preparer.prepare",),
    "refining": ("tuner.stages.refinement.Refinement.begin",),
    "storage": (
        "storage.trials.Trials.propose_several",
        "storage.attempts.Attempts.take_several",
        "storage.evaluations.Evaluations.find_several",
        "storage.attempts.Attempts.finish_several",
        "storage.trials.Trials.finished_from",
        "storage.attempts.Attempts.heartbeat",
    ),
}
"""Functions whose time is counted, by the part of a job that they make up."""


@dataclass
class Accounts:
    """What was counted.

    Attributes:
        seconds: CPU seconds of this process, by part.
        calls: How often each was entered.
    """

    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    calls: dict[str, int] = field(default_factory=lambda: defaultdict(int))


@contextmanager
def accounting() -> Iterator[Accounts]:
    """Count the CPU seconds of `PARTS` for as long as the context lasts, each once where nested."""
    accounts = Accounts()
    lock = threading.Lock()
    inside = threading.local()

    def counted(part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapper(*arguments: Any, **options: Any) -> Any:
            if getattr(inside, "part", None) is not None:
                return function(*arguments, **options)
            inside.part = part
            began = time.thread_time()
            try:
                return function(*arguments, **options)
            finally:
                inside.part = None
                with lock:
                    accounts.seconds[part] += time.thread_time() - began
                    accounts.calls[part] += 1

        return wrapper

    patches = []
    for part, names in PARTS.items():
        for name in names:
            owner, attribute = _owner(name)
            patches.append(patch.object(owner, attribute, counted(part, getattr(owner, attribute))))
    for each in patches:
        each.start()
    try:
        yield accounts
    finally:
        for each in patches:
            each.stop()


def _owner(name: str) -> tuple[Any, str]:
    """The module or class that holds a function, and its name there."""
    path, _, attribute = name.rpartition(".")
    try:
        return importlib.import_module(path), attribute
    except ModuleNotFoundError:
        module, _, owner = path.rpartition(".")
        return getattr(importlib.import_module(module), owner), attribute
