"""The engine against the definition: random patterns, disorder, copies, withdrawals, amendments, ties."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, note, settings

from detectors.patterns.syntax import PatternError
from tests.detectors.patterns.cases import STRATEGIES, inputs, queries, read, run, standing
from tests.detectors.patterns.definition import matches


def agree(text: str, strategy: Any, arrivals: list[Any]) -> None:
    """The live set is that of the definition."""
    note(f"{text}\nstrategy {strategy}\narrivals {[(e.id, e.ts_us // 1000, e.payload, d) for e, d in arrivals]}")
    try:
        query = read(text)
        found = run(query, strategy, arrivals)
    except PatternError as error:
        note(f"refused: {error}")
        return
    expected = matches(query, strategy, standing(arrivals))
    assert found == expected, f"missing {expected - found}, too many {found - expected}"


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_live_set_is_that_of_the_definition(strategy: str) -> None:
    @settings(max_examples=60, suppress_health_check=list(HealthCheck))
    @given(queries(), inputs(6))
    def check(text: str, arrivals: list[Any]) -> None:
        agree(text, strategy, arrivals)

    check()


@pytest.mark.slow
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_live_set_is_that_of_the_definition_in_thousands_of_cases(strategy: str) -> None:
    @settings(max_examples=4_000, suppress_health_check=list(HealthCheck))
    @given(queries(), inputs(9))
    def check(text: str, arrivals: list[Any]) -> None:
        agree(text, strategy, arrivals)

    check()
