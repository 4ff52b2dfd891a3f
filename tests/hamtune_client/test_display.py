"""What is shown of jobs: tables in notebooks, a line while one waits, errors without tracebacks."""

from __future__ import annotations

import io
import re
import sys
from html.parser import HTMLParser

import pytest

from cli.job_words import gained
from hamtune_client import Client, HamtuneClientError, Job, Refused, figures, live
from hamtune_client.html import table
from hamtune_client.live import Line, Nowhere, display
from hamtune_client.models import JobRecord
from hamtune_client.wording import duration, headway
from searchspace.units import format_duration
from tests.service.conftest import SPEC

HOSTILE = "<script>alert('x')</script>"


class Cells(HTMLParser):
    """The texts of the cells of tables, and every tag."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_a_job_shows_how_far_it_is(job: Job) -> None:
    shown = Cells(job.refresh()._repr_html_())
    assert {"progress", "b"} <= set(shown.tags)
    assert any(
        text.startswith("running, 3 of 20 trials, best 1 s (trial 3)") for text in shown.texts
    )


def test_what_users_write_is_text_and_no_html(hamtune: Client, job: Job) -> None:
    job.describe(name=HOSTILE, note=HOSTILE, tags=[HOSTILE])
    for shown in (job._repr_html_(), hamtune.list_jobs()._repr_html_()):
        parsed = Cells(shown)
        assert "script" not in parsed.tags
        assert HOSTILE in parsed.texts


def test_the_best_is_printed_in_a_few_lines(job: Job) -> None:
    lines = str(job.best()).splitlines()
    assert lines[0] == f"1 s ({job.best().model}), trial 3"
    assert lines[1] == "2 x the speed of the best baseline (torus-2d, 2 s)"
    assert "topology_seed=3" in lines[2].split()


def test_the_best_is_set_beside_the_baselines(job: Job) -> None:
    shown = Cells(job.best()._repr_html_()).texts
    assert "2 × faster than the best baseline, 2 s" in shown
    row = shown.index("torus-2d", shown.index("baseline"))
    assert shown[row : row + 3] == ["torus-2d", "2 s", "2.00 ×"]


def test_nothing_has_a_ratio_to_a_best_that_takes_no_time(job: Job) -> None:
    best = job.best().model_copy(update={"value": 0.0, "speedup": None})
    shown = Cells(best._repr_html_()).texts
    assert "it takes no time beside the best baseline, 2 s" in shown
    row = shown.index("torus-2d", shown.index("baseline"))
    assert shown[row : row + 2] == ["torus-2d", "2 s"]
    assert not any("×" in text for text in shown)

    same = best.model_copy(update={"baseline": 0.0, "baselines": {"torus-2d": 0.0}})
    assert "as fast as the best baseline, 0 s" in Cells(same._repr_html_()).texts
    alone = best.model_copy(update={"baseline": None, "baselines": {}})
    assert "there is no baseline to compare it with" in Cells(alone._repr_html_()).texts


def test_a_gain_within_the_error_is_called_none(job: Job) -> None:
    best = job.best().model_copy(update={"within_error": True, "speedup": 1.01, "error": 0.05})
    assert "no gain and no loss" in best._repr_html_()
    slower = best.model_copy(update={"within_error": False, "speedup": 0.5})
    assert "2 × slower than" in slower._repr_html_()


@pytest.mark.parametrize("speedup", [0.5, 0.9996, 1.0, 1.004, 1.3])
@pytest.mark.parametrize("within_error", [True, False])
def test_a_gain_has_the_words_of_the_command_line(
    job: Job, speedup: float, within_error: bool
) -> None:
    found = job.best()
    assert found.baseline is not None
    changed = {"value": found.baseline / speedup, "speedup": speedup, "within_error": within_error}
    best = found.model_copy(update={**changed, "error": 0.05, "error_from": "fluid"})
    command = gained(best.model_dump())
    shown = next(text for text in Cells(best._repr_html_()).texts if "best baseline" in text)
    for words in (
        "no gain and no loss: ",
        "as fast as ",
        "faster than ",
        " the error of the model",
    ):
        if within_error and words == "faster than ":
            continue  # of a difference within the error, notebooks do not say which way it goes
        assert (words in shown) == (words in command), (shown, command)


def test_lists_are_tables_of_what_differs(job: Job) -> None:
    shown = Cells(job.list_trials()._repr_html_())
    assert shown.tags.count("tr") == 5
    assert "topology_seed" in shown.texts and "topology" not in shown.texts
    assert "topology" in Cells(job.trial(1)._repr_html_()).texts
    rows = Cells(job.rows(order="fastest")._repr_html_()).texts
    assert "topology_seed" in rows and "1 s" in rows
    assert Cells(job.importance()._repr_html_()).texts


def test_long_tables_are_cut_and_say_so() -> None:
    shown = table(["number"], [[number] for number in range(1200)])
    assert shown.count("<tr>") == 201
    assert "and 1,000 more" in shown


def test_a_terminal_has_one_line_that_is_written_over(job: Job) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    stream = Terminal()
    line = Line(stream)
    line.show(job.refresh().record)
    line.show(job.record)
    line.show(job.record.model_copy(update={"state": "completed", "name": "\x1b[31mred"}))
    line.end()
    assert stream.getvalue().count("\n") == 1
    assert stream.getvalue().count("\r\x1b[2K") == 2
    assert "\x1b[31m" not in stream.getvalue()


def test_news_are_lines_where_there_is_no_terminal(
    hamtune: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    job = hamtune.submit(SPEC).cancel()
    job.wait(quiet=False)
    assert capsys.readouterr().err == "cg-16: cancelled\n"
    job.wait()
    assert capsys.readouterr().err == ""


def test_where_nobody_looks_nothing_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert isinstance(display(None), Nowhere)
    assert isinstance(display(True), Nowhere)
    assert isinstance(display(False), Line)
    assert live._in_notebook() is False


def test_states_are_told_in_words(job: Job) -> None:
    def told(**changes: object) -> str:
        return headway(JobRecord.model_validate({**job.record.model_dump(), **changes}))

    assert told(state="queued", queue_position=2).startswith("queued, 2 jobs before it")
    assert told(state="queued", queue_position=1).startswith("queued, 1 job before it")
    assert told(state="failed", error="the build ended\nmake: x").startswith(
        "failed, the build ended,"
    )
    progress = job.record.progress.model_dump()
    capturing = {**progress, "capture": {"run": 1, "runs": 3}, "kinds": {}, "best": None}
    assert told(state="preparing", progress=capturing) == "preparing, run 1 of 3 of its program"
    measuring = {**progress, "measuring": {"settled": 1, "wanted": 4, "runs": 5}}
    assert "1 of 4 finalists measured" in told(progress=measuring)


@pytest.mark.parametrize("seconds", [0, 6e-8, 1.5e-4, 0.0712, 1.5, 119, 121, 7199, 7200, 1e6])
def test_durations_are_those_of_the_command_line(seconds: float) -> None:
    assert duration(seconds) == format_duration(seconds)


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(9.9996e-7, "1 us"), (0.0009999999999999998, "1 ms"), (0.9999, "999.9 ms"), (0.99996, "1 s")],
)
def test_what_is_rounded_up_to_1000_is_told_in_the_next_unit(seconds: float, told: str) -> None:
    assert duration(seconds) == format_duration(seconds) == told


def test_errors_are_shown_without_a_traceback() -> None:
    assert HamtuneClientError("no").args == ("no",)
    several = Refused(422, "a: x; b: y", [("a", "x"), ("b", "y")])
    assert several._render_traceback_() == ["Refused: a: x\nb: y"]


def test_a_data_frame_needs_no_pyarrow(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    typed = job.to_dataframe()
    monkeypatch.setattr(figures, "form_of_table", lambda: "csv")
    frame = job.to_dataframe()
    assert list(frame.columns) == list(typed.columns)
    assert frame["value"].tolist() == typed["value"].tolist()
    assert frame["configuration.topology_seed"].tolist() == [1, 2, 3, 4]


def test_a_service_without_pyarrow_gives_a_frame_all_the_same(
    job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures, "form_of_table", lambda: "arrow")  # which no service has
    assert job.to_dataframe()["value"].tolist()[:3] == [2.0, 2.0, 1.0]


def test_a_check_tells_the_space(hamtune: Client) -> None:
    shown = hamtune.check(SPEC)._repr_html_()
    assert re.search(r"<b>cg-16</b>: a valid job", shown)
    assert "baselines: " in shown and "estimate: " in shown
