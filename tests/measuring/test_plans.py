"""What an agent takes from a service, and what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measuring.plans import check_plan, write_export
from searchspace.collectives import COLLECTIVES, DECIDED_BY_ANOTHER
from searchspace.collectives.equivalents import TARGETS
from searchspace.configuration import Configuration
from searchspace.errors import InvalidInput
from searchspace.transport import SETTINGS
from service.exports.choices import choices_of, forced

PLAN: dict[str, Any] = {
    "ranks": 4,
    "hosts": [1, 0, 1, 0],
    "settings": {"coll_tuned_use_dynamic_rules": "1", "btl_tcp_flags": "1"},
}
HOSTS = ["n1", "n2"]
LIBRARIES = ("openmpi", "mpich")


def test_a_plan_becomes_files_with_the_agents_own_host_names(tmp_path: Path) -> None:
    check_plan(PLAN, "openmpi", 2, 2)
    assert write_export(PLAN, "openmpi", HOSTS, tmp_path) == tmp_path
    assert (tmp_path / "hostfile").read_text() == "n2 slots=2\nn1 slots=2\n"
    assert (tmp_path / "rankfile").read_text().splitlines()[2] == "rank 2=n2 slot=1"
    assert "btl_tcp_flags = 1\n" in (tmp_path / "mca-params.conf").read_text()


RULES = {"allgather": {"4": [[0, 2, 0], [4096, 4, 0]], "5": [[0, 0, 0]]}}


def test_rules_become_a_file_that_the_script_names(tmp_path: Path) -> None:
    plan = {**PLAN, "rules": RULES}
    check_plan(plan, "openmpi", 2, 2)
    write_export(plan, "openmpi", HOSTS, tmp_path)
    text = (tmp_path / "dynamic-rules.conf").read_text()
    assert "4 # ranks\n2 # message sizes\n0 2 0 0" in text
    assert "4096 4 0 0\n5 # ranks" in text
    script = (tmp_path / "mpirun.sh").read_text()
    assert 'dynamic_rules_filename="$here/dynamic-rules.conf"' in script


@pytest.mark.parametrize(
    "rules",
    [
        None,
        [],
        {"sort": {"4": [[0, 1, 0]]}},
        {"bcast": {"4\n": [[0, 1, 0]]}},
        {"bcast": {4: [[0, 1, 0]]}},
        {"bcast": {"4": []}},
        {"bcast": {"4": [[0, 1]]}},
        {"bcast": {"4": [[0, "1", 0]]}},
        {"bcast": {"4": [[0, True, 0]]}},
        {"bcast": {"4": [[0, -1, 0]]}},
        {"bcast": {"4": {"0": 1}}},
        {"bcast": {"4": [[5, 1, 0], [0, 1, 0]]}},
        {"bcast": {"4": [[0, 1, 0], [8, 1, 0], [8, 2, 0]]}},
        {"bcast": {"4": [[0, 10, 0]]}},
    ],
)
def test_rules_that_are_more_than_numbers_are_refused(rules: Any) -> None:
    with pytest.raises(InvalidInput, match="rules"):
        check_plan({**PLAN, "rules": rules}, "openmpi", 2, 2)


def test_mpich_takes_no_rules() -> None:
    with pytest.raises(InvalidInput, match="rules"):
        check_plan({**PLAN, "settings": {}, "rules": RULES}, "mpich", 2, 2)


def test_the_librarys_defaults_need_no_files(tmp_path: Path) -> None:
    plan: dict[str, Any] = {"ranks": 4, "hosts": None, "settings": {}}
    check_plan(plan, "mpich", 2, 2)
    assert write_export(plan, "mpich", HOSTS, tmp_path) is None


@pytest.mark.parametrize(
    ("library", "name", "value"),
    [
        ("openmpi", "plm_rsh_agent", "sh"),
        ("openmpi", "orte_launch_agent", "sh"),
        ("openmpi", "mca_component_path", "x"),
        ("openmpi", "coll_tuned_dynamic_rules_filename", "x"),
        ("openmpi", "btl_tcp_if_include", "eth0"),
        ("openmpi", "coll_tuned_allreduce_algorithm", "4\nplm_rsh_agent = sh"),
        ("openmpi", "coll_tuned_allreduce_algorithm", "$(id)"),
        ("openmpi", "coll_tuned_x\nplm_rsh_agent", "1"),
        ("mpich", "LD_PRELOAD", "x.so"),
        ("mpich", "PATH", "."),
        ("mpich", "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE", "x"),
        ("mpich", "MPIR_CVAR_BCAST_INTRA_ALGORITHM", "/etc/passwd"),
    ],
)
def test_what_could_start_load_or_read_something_is_refused(
    library: Any, name: str, value: str
) -> None:
    with pytest.raises(InvalidInput):
        check_plan({**PLAN, "settings": {name: value}}, library, 2, 2)


RUNNABLE = {name: target for name, target in TARGETS.items() if target.format in LIBRARIES}


@pytest.mark.parametrize("name", RUNNABLE)
def test_whatever_a_target_is_forced_by_may_be_set(name: str) -> None:
    target = RUNNABLE[name]
    library: Any = target.format
    seen = set()
    for collective in (*COLLECTIVES, *DECIDED_BY_ANOTHER):
        decider = DECIDED_BY_ANOTHER.get(collective, collective)
        for algorithm in COLLECTIVES[decider].algorithms:
            chosen = Configuration({f"collectives.{decider}": algorithm})
            settings = forced(choices_of(chosen, target, {collective: ((),)}, 4), target)
            check_plan({**PLAN, "settings": settings}, library, 2, 2)
            seen |= set(settings)
    assert seen > {setting for setting, _ in target.always}
    for setting, known in SETTINGS.items():
        for value in known.values:
            settings = dict(target.setting(setting, value).settings or {})
            check_plan({**PLAN, "settings": settings}, library, 2, 2)


@pytest.mark.parametrize(
    "change",
    [
        {"hosts": [0, 0, 0, 1]},
        {"hosts": [0, 1, 2, 3]},
        {"hosts": [-1, 0, 0, 1]},
        {"hosts": [0, 1]},
        {"hosts": ["n1; id", 0, 0, 1]},
        {"ranks": 5},
        {"ranks": True},
        {"settings": []},
        {"command": ["sh"]},
    ],
)
def test_what_does_not_fit_the_cluster_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        check_plan({**PLAN, **change}, "openmpi", 2, 2)


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(ANY | st.fixed_dictionaries({"ranks": ANY, "hosts": ANY, "settings": ANY}))
def test_anything_else_is_refused_in_words(plan: Any) -> None:
    try:
        check_plan(plan, "openmpi", 2, 2)
    except InvalidInput:
        return
    assert isinstance(plan["settings"], dict)
