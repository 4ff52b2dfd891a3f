"""OpenTuner in a process of its own: `python -m tuner.opentuner_process`.

Importing OpenTuner replaces `logging.Formatter`, and its search uses the global random state; both
are harmless here. Speaks JSON lines on standard input and output, and ends when its input ends,
so it cannot outlive the process that started it.

Requests and their answers:
    {"do": "open", "seed", "parameters", "techniques"}  none
    {"do": "ask"}                                       {"id", "values", "technique"}, {"id": null}
    {"do": "tell", "id", "value", "status"}             none
    {"do": "inject", "values", "value", "status"}       none
A failure is answered {"error": message}, and the process ends.
"""

from __future__ import annotations

import json
import logging
import random
import sys
import warnings
from typing import Any, TextIO

import numpy

from tuner import opentuner_patches
from tuner.manipulator import build
from tuner.opentuner_driver import MemoryDriver
from tuner.technique_factory import root_technique

__all__ = ["main", "serve"]


class _Conversation:
    """One search and its open proposals."""

    def __init__(self, request: dict[str, Any]) -> None:
        random.seed(request["seed"])
        numpy.random.seed(request["seed"] % 2**32)
        manipulator = build(request["parameters"])
        self._driver = MemoryDriver(manipulator, root_technique(request["techniques"]))
        self._open: dict[int, Any] = {}
        self._asked = 0

    def ask(self) -> dict[str, Any]:
        desired = self._driver.ask()
        if desired is None:
            return {"id": None}
        self._asked += 1
        self._open[self._asked] = desired
        return {
            "id": self._asked,
            "values": desired.configuration.data,
            "technique": desired.requestor,
        }

    def tell(self, request: dict[str, Any]) -> None:
        desired = self._open.pop(request["id"])
        self._driver.tell(desired, request["value"], request["status"])

    def inject(self, request: dict[str, Any]) -> None:
        self._driver.inject(request["values"], request["value"], request["status"])


def serve(requests: TextIO, answers: TextIO) -> None:
    """Answer requests until they end."""
    conversation: _Conversation | None = None
    for line in requests:
        request = json.loads(line)
        if request["do"] == "open":
            conversation = _Conversation(request)
        elif conversation is None:
            raise ValueError("the first request must be 'open'")
        elif request["do"] == "ask":
            answers.write(json.dumps(conversation.ask()) + "\n")
            answers.flush()
        elif request["do"] == "tell":
            conversation.tell(request)
        else:
            conversation.inject(request)


def main() -> None:
    """Serve standard input and output; whatever else is printed goes to standard error."""
    answers, sys.stdout = sys.stdout, sys.stderr
    logging.disable()
    warnings.simplefilter("ignore")
    opentuner_patches.apply()
    try:
        serve(sys.stdin, answers)
    except BrokenPipeError:
        pass
    except Exception as error:  # told to the parent, whatever it is
        answers.write(json.dumps({"error": f"{type(error).__name__}: {error}"}) + "\n")
        answers.flush()
        raise


if __name__ == "__main__":
    main()
