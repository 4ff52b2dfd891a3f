"""What is asked of OpenTuner and what it is told, one JSON line each, in a process of its own.

Importing OpenTuner replaces `logging.Formatter`, and its search uses the global random state; both
are harmless there (`tuner.opentuner_server`).

Requests and their answers:
    {"do": "open", "seed", "parameters", "techniques", "space", "insight", "until", "experiences"}
                                                               none
    {"do": "ask"}            {"id", "values", "technique", "probability", "weights"}, {"id": null}
    {"do": "tell", "id", "value", "status", "bound"}           none
    {"do": "inject", "values", "value", "status", "bound"}     none
A failure is answered {"error": message}, and the process ends.
"""

from __future__ import annotations

import json
import random
from typing import Any, TextIO

import numpy

from searchspace.insight import Experience, Insight
from searchspace.space import SearchSpace
from tuner import opentuner_patches
from tuner.manipulator import build
from tuner.opentuner_driver import MemoryDriver
from tuner.outlook import Outlook
from tuner.technique_factory import Searched, root_technique

__all__ = ["Conversation", "serve"]


class Conversation:
    """One search and its open proposals.

    Args:
        request: The one that opens it.
    """

    def __init__(self, request: dict[str, Any]) -> None:
        random.seed(request["seed"])
        numpy.random.seed(request["seed"] % 2**32)
        manipulator = build(request["parameters"])
        space = SearchSpace.from_description(request["space"])
        told = request.get("insight")
        insight = None if told is None else Insight.from_json(told)
        self._outlook = Outlook(request.get("until"))
        experiences = [Experience.from_json(one) for one in request.get("experiences", ())]
        searched = Searched(space, insight, request["seed"], self._outlook, experiences)
        self._driver = MemoryDriver(manipulator, root_technique(request["techniques"], searched))
        self._open: dict[int, Any] = {}
        self._asked = 0

    def ask(self) -> dict[str, Any]:
        """The answer to an `ask`."""
        desired = self._driver.ask()
        if desired is None:
            return {"id": None}
        self._asked += 1
        self._open[self._asked] = desired
        news = self._outlook.take()
        return {
            "id": self._asked,
            "values": desired.configuration.data,
            "technique": desired.requestor,
            "probability": self._outlook.probability,
            "expectation": None if news is None else vars(news),
            "weights": self._outlook.weights,
        }

    def tell(self, request: dict[str, Any]) -> None:
        """Take the result of an open proposal."""
        desired = self._open.pop(request["id"])
        self._driver.tell(desired, request["value"], request["status"], request.get("bound"))

    def inject(self, request: dict[str, Any]) -> None:
        """Take a result that was not asked for."""
        self._driver.inject(
            request["values"], request["value"], request["status"], request.get("bound")
        )


def serve(requests: TextIO, answers: TextIO) -> None:
    """Answer requests until they end, or one fails."""
    try:
        _answer_all(requests, answers)
    except (BrokenPipeError, ConnectionResetError):
        pass
    except Exception as error:  # told to the parent, whatever it is
        answers.write(json.dumps({"error": f"{type(error).__name__}: {error}"}) + "\n")
        answers.flush()
        raise


def _answer_all(requests: TextIO, answers: TextIO) -> None:
    opentuner_patches.apply()
    conversation: Conversation | None = None
    for line in requests:
        request = json.loads(line)
        if request["do"] == "open":
            conversation = Conversation(request)
        elif conversation is None:
            raise ValueError("the first request must be 'open'")
        elif request["do"] == "ask":
            answers.write(json.dumps(conversation.ask()) + "\n")
            answers.flush()
        elif request["do"] == "tell":
            conversation.tell(request)
        else:
            conversation.inject(request)
