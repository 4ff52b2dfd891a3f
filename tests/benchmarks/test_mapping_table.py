"""What the documentation says of mappers is what was measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import benchmarks.mapping_tables
from benchmarks.mapping_tables import PAGE, keep, mapping_tables
from benchmarks.tables_in_docs import table_of


def test_the_tables_are_those_of_the_results() -> None:
    tables = mapping_tables()
    assert tables
    for name, table in tables.items():
        assert table_of(PAGE, name) == table


def test_rows_that_were_not_measured_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    results = tmp_path / "mapping.json"
    row: dict[str, Any] = {"found": 9, "bar": 10, "met": True, "threads": 2}
    row |= {"seconds": 1.0, "bar_seconds": 2.0}
    there = {"date": "2026-11-01", "processor": "AMD EPYC"}
    old = [{**row, "name": name, **there} for name in ("tree", "torus")]
    results.write_text(json.dumps({"fast": old, "given": old[:1]}))
    monkeypatch.setattr(benchmarks.mapping_tables, "RESULTS", results)
    monkeypatch.setattr(benchmarks.mapping_tables, "write_tables", lambda page, tables: None)
    keep("fast", [{**row, "name": "torus", "found": 8}, {**row, "name": "mesh"}])
    kept = json.loads(results.read_text())
    assert kept["given"] == old[:1]
    assert [line["name"] for line in kept["fast"]] == ["tree", "torus", "mesh"]
    assert kept["fast"][0] == old[0]
    assert kept["fast"][1]["found"] == 8
    assert kept["fast"][1]["date"] > "2026-11-01"
