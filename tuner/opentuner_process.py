"""OpenTuner in a process of its own: `python -m tuner.opentuner_process`.

Importing OpenTuner replaces `logging.Formatter`, and its search uses the global random state; both
are harmless here. Speaks JSON lines on standard input and output, and ends when its input ends,
so it cannot outlive the process that started it.

Requests and their answers:
    {"do": "open", "seed", "parameters", "techniques", "space", "insight", "until", "experiences"}
                                                               none
    {"do": "ask"}            {"id", "values", "technique", "probability", "weights"}, {"id": null}
    {"do": "tell", "id", "value", "status", "bound"}           none
    {"do": "inject", "values", "value", "status", "bound"}     none
A failure is answered {"error": message}, and the process ends.
"""

from __future__ import annotations

import gc
import json
import logging
import sys
import warnings
from typing import TextIO

__all__ = ["converse", "main", "quieten"]


def main() -> None:
    """Serve standard input and output; whatever else is printed goes to standard error."""
    answers = sys.stdout
    quieten()
    converse(sys.stdin, answers)


def quieten() -> None:
    """Send what libraries print to standard error, and have them neither log nor warn."""
    sys.stdout = sys.stderr
    logging.disable()
    warnings.simplefilter("ignore")


def converse(requests: TextIO, answers: TextIO) -> None:
    """Answer requests until they end, or one fails."""
    try:
        from tuner.opentuner_conversation import serve

        gc.freeze()
        gc.enable()
        serve(requests, answers)
    except (BrokenPipeError, ConnectionResetError):
        pass
    except Exception as error:  # told to the parent, whatever it is
        answers.write(json.dumps({"error": f"{type(error).__name__}: {error}"}) + "\n")
        answers.flush()
        raise


if __name__ == "__main__":
    # What OpenTuner imports stays: nobody is to look for garbage among it, now or at the end.
    gc.disable()
    main()
    gc.freeze()
