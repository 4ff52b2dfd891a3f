"""Each patch does what it is for, and what it patches is still there to be patched."""

import random
import subprocess
import sys

import pytest
from opentuner.search import composableevolutionarytechniques, differentialevolution, pso

from tuner.manipulator import build

PARAMETERS = [{"name": f"p{i}", "kind": "integer", "low": 0, "high": 999} for i in range(4)]


def test_opentuner_is_the_release_that_the_patches_were_made_for() -> None:
    from importlib.metadata import version

    assert version("opentuner") == "0.8.8"


@pytest.mark.parametrize("module", [differentialevolution, composableevolutionarytechniques])
def test_members_age_by_a_counter(module: object) -> None:
    first = module.PopulationMember({})  # type: ignore[attr-defined]
    second = module.PopulationMember({})  # type: ignore[attr-defined]
    first.touch()
    assert [type(m.timestamp) for m in (first, second)] == [int, int]
    assert first.timestamp > second.timestamp


def test_members_are_hashed_by_birth() -> None:
    members = [differentialevolution.PopulationMember({}) for _ in range(100)]
    births = [hash(member) for member in members]
    assert births == list(range(births[0], births[0] + 100))


def test_a_set_of_members_is_walked_in_the_same_order_wherever_they_lie_in_memory() -> None:
    def walk(padding: int) -> list[int]:
        members = []
        keep = []
        for _ in range(30):
            keep.append(bytearray(padding))
            members.append(differentialevolution.PopulationMember({}))
        first = members[0].serial
        # Sets order small integers by their low bits; begin both at the same.
        for member in members:
            member.serial -= first
        return [m.serial for m in set(members) - {members[3]}]

    assert walk(8) == walk(1000)


def test_the_stock_members_are_hashed_by_address_and_aged_by_the_clock() -> None:
    """The reason for two patches: should this change, they can go."""
    script = (
        "from opentuner.search import differentialevolution as d\n"
        "m = d.PopulationMember({})\n"
        "assert type(m).__hash__ is object.__hash__\n"
        "assert isinstance(m.timestamp, float)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_the_best_position_of_a_particle_stays_where_it_was() -> None:
    random.seed(1)
    particle = pso.HybridParticle(build(PARAMETERS), "op3_cross_OX1")
    remembered = dict(particle.best)
    assert remembered == particle.position
    particle.move(build(PARAMETERS).random())
    assert particle.position != remembered
    assert particle.best == remembered


def test_the_best_position_of_a_stock_particle_moves_along() -> None:
    """The reason for the patch: should this change, it can go."""
    script = (
        "from opentuner.search import pso, manipulator\n"
        "m = manipulator.ConfigurationManipulator()\n"
        "m.add_parameter(manipulator.IntegerParameter('a', 0, 9))\n"
        "p = pso.HybridParticle(m, 'op3_cross_OX1')\n"
        "assert p.best is p.position\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
