"""The API keeps the contract of its OpenAPI document: schemathesis makes requests of it and judges the answers."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings

from app.api.limits import RateLimiter
from tests.app.api.conftest import TOKEN
from tests.app.api.test_matches import Game

schemathesis = pytest.importorskip("schemathesis")
#: Left out: a schema cannot say which cameras, teams and players there are.
positive_data_acceptance = pytest.importorskip("schemathesis.specs.openapi.checks").positive_data_acceptance

CASES = 15
#: A path with a line break, plain or escaped, is no path of the API.
LINE_BREAK = re.compile(r"%0[AD]|\\[nr]|[\r\n]", flags=re.I)
HEADERS = {"Authorization": f"Bearer {TOKEN}"}


@pytest.mark.slow
def test_every_answer_is_one_that_the_document_describes(steered: tuple[Game, str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("app.api.v1.RateLimiter", lambda: RateLimiter(1e6, 10_000))
    document = schemathesis.openapi.from_url(f"{steered[1]}api/v1/openapi.json", headers=HEADERS)
    document.config.update(base_url=f"{steered[1]}api/v1")
    seen = []
    for found in document.exclude(path_regex="stream$").get_all_operations():
        operation = found.ok()
        seen.append(f"{operation.method.upper()} {operation.path}")

        @settings(
            max_examples=CASES, deadline=None, derandomize=True, database=None,
            phases=[Phase.explicit, Phase.generate], suppress_health_check=list(HealthCheck),
        )  # fmt: skip
        @given(case=operation.as_strategy())
        def keeps_the_contract(case):
            assume(LINE_BREAK.search(str(case.path_parameters)) is None)
            case.call_and_validate(headers=HEADERS, excluded_checks=[positive_data_acceptance])

        keeps_the_contract()
    assert len(seen) > 20, seen
