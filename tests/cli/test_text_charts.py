"""The curve of a job in characters."""

from __future__ import annotations

from cli.curves import Axis, Curve
from cli.text_charts import curve_text


def curve(best: tuple[float | None, ...], baselines: dict[str, float]) -> Curve:
    return Curve(
        name="cg-64",
        axis=Axis(label="trial", values=tuple(float(at + 1) for at in range(len(best)))),
        states=("completed",) * len(best),
        values=best,
        best=best,
        baselines=baselines,
        proximity=(),
    )


def test_a_curve_in_characters_fits_its_size() -> None:
    text = curve_text(curve((0.09, 0.08, 0.05), {"torus-3d": 0.085}), width=60, height=12)

    lines = text.splitlines()
    assert "cg-64: simulated time (ms) by trial" in lines[0]
    assert "best baseline: torus-3d, 85 ms" in lines[-1]
    assert len(lines) <= 13
    assert max(map(len, lines)) <= 60
    assert "\x1b" not in text


def test_a_single_trial_is_a_curve() -> None:
    assert "50" in curve_text(curve((0.05,), {}))


def test_no_trial_is_said_in_words() -> None:
    assert curve_text(curve((None, None), {})) == "no trial has completed yet"
