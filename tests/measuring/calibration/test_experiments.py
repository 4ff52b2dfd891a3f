from measuring.calibration import patterns
from measuring.calibration.experiments import rank_trace
from searchspace.formats.operations import decode


def test_an_experiment_is_the_same_for_the_program_and_for_the_simulator() -> None:
    pair = patterns.ping_pong(0, 3, 1024, "2 hops")
    assert pair.text(7, 5, 0.01) == (
        "experiment 7 0 5 0.01\nrank 0 s:3:1024 r:3:1024\nrank 3 r:0:1024 s:0:1024\nend\n"
    )
    names = [operation.name for operation in decode(rank_trace(pair.calls[0]))]
    assert names == ["send", "recv", "finalize"]


def test_requests_of_a_trace_are_waited_for_all_at_once() -> None:
    both_ways = patterns.exchange(0, 1, 10, blocking=False)
    operations = list(decode(rank_trace(both_ways.calls[1])))
    assert [o.name for o in operations[1:4]] == ["irecv", "isend", "waitall"]
    assert operations[3].fields["slots"] == [0, 1]


def test_what_comes_before_the_clock_is_an_experiment_that_ends() -> None:
    late = patterns.late_receiver(0, 1, 4096, 0.05)
    before = late.untimed
    assert before is not None
    assert [call.code for call in before.calls[0]] == ["s"]
    assert [call.code for call in before.calls[1]] == ["r", "z"]
    assert patterns.ping_pong(0, 1, 8, "").untimed is None


def test_all_others_wait_for_the_rank_that_has_the_clock() -> None:
    ranks = range(6)
    crowd = [
        patterns.shift(ranks, 2, 8),
        patterns.all_to_all(ranks, 8),
        patterns.pipeline(ranks, 8),
        patterns.incast(0, [2, 3], 8),
        patterns.outcast(0, [2, 3], 8),
        patterns.streams([(0, 1), (2, 3), (4, 5)], 8),
    ]
    for experiment in crowd:
        for rank, calls in experiment.calls.items():
            assert rank == experiment.clock or calls[0].code == "r"
