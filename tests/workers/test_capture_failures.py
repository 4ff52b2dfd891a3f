"""Why a run failed, whatever the program printed beside what SimGrid says of it."""

from __future__ import annotations

import pytest

from workers.capture_failures import explain_failure
from workers.capture_progress import Progress, RankProgress, State

_RETURNED = "[0.1] [smpi/WARNING] PMPI_Type_vector - returned MPI_ERR_COUNT instead of MPI_SUCCESS"


@pytest.mark.parametrize(
    "log",
    [
        "MPI_" * 250_000,
        "MPI_ " * 200_000,
        " PMPI_A: param \n" * 60_000,
        " PMPI_A: param " * 60_000,
        "MPI_A - returned " * 60_000,
        "Not yet implemented" + " " * 1_000_000,
        "Not yet implemented :\n" * 50_000,
        "[0." + "0" * 1_000_000,
        "Actor pid=" * 100_000 + "1" * 100_000,
    ],
)
def test_a_program_that_prints_what_simgrid_begins_with_is_not_explained(log: str) -> None:
    """Looking for what follows, from each place to the end of the log, took hours."""
    assert explain_failure(log, None, 1) is None


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        ("[0.0] PMPI_Send: MPI_Init was not called before", "MPI_Send is called before MPI_Init"),
        ("Not yet implemented: PMPI_Comm_join.", "MPI_Comm_join is not supported under SMPI"),
        ("NOT_YET_IMPLEMENTED MPI_Comm_join", "MPI_Comm_join is not supported under SMPI"),
        (_RETURNED, "MPI_Type_vector failed with MPI_ERR_COUNT"),
        (
            f"[0.1] PMPI_Type_vector: param 1 (count) cannot be negative\nmore\n{_RETURNED}\n",
            "MPI_Type_vector failed with MPI_ERR_COUNT: param 1 (count) cannot be negative",
        ),
        (
            f"{_RETURNED}\n[0.1] PMPI_Send: param 1 (count) is wrong\n",
            "MPI_Type_vector failed with MPI_ERR_COUNT",
        ),
        (
            "[0.1] [root/CRITICAL] recv - returned MPI_ERR_TRUNCATE instead of MPI_SUCCESS",
            "a message is longer than the receive that takes it (MPI_ERR_TRUNCATE)",
        ),
        ("MPI_Abort was called", "the program called MPI_Abort"),
    ],
)
def test_what_simgrid_says_is_found(log: str, reason: str) -> None:
    found = explain_failure(f"words of the program\n{log}\nmore of them\n", None, 1)

    assert found is not None
    assert found.startswith(reason)


def test_what_a_run_that_ended_well_printed_explains_nothing_but_an_abort() -> None:
    assert explain_failure(_RETURNED, None, 0) is None
    assert explain_failure("MPI_Abort was called", None, 0) == "the program called MPI_Abort"


@pytest.mark.parametrize(
    ("sender", "receiver", "reason"),
    [
        (State.IN_CALL, State.ENDED, "rank 1 has called MPI_Finalize before it received all"),
        (State.IN_CALL, State.COMPUTES, "rank 1 ended without MPI_Finalize, whose last call was"),
        (State.IN_CALL, State.IN_CALL, None),
    ],
)
def test_a_message_to_a_rank_that_is_gone_is_explained(
    sender: State, receiver: State, reason: str | None
) -> None:
    ranks = tuple(RankProgress(3, 0.0, state, "MPI_Send") for state in (sender, receiver))
    found = explain_failure("Actor pid=2 is gone??\n", Progress(ranks, stuck=False), 134)

    assert found == reason or (reason is not None and (found or "").startswith(reason))


def test_a_reason_is_no_longer_than_a_line() -> None:
    log = f" PMPI_Send: param {'x' * 100_000}\n{_RETURNED}"

    assert len(explain_failure(log, None, 1) or "") < 600
