"""Slack policies as text: for all detectors and for single ones; what is wrong is named."""

from __future__ import annotations

import pytest

from app.pipeline.pipeline import PipelineOptions
from app.settings.model import SettingsError
from app.settings.resolve import make_settings
from app.settings.slack import METHODS, SlackChoice, SlackError, parse_slack
from football.match_sheet import MatchSheet
from middleware.ordering.slack.settings import SlackSettings
from middleware.sources.delay_bound import ReleaseTarget


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ("", SlackChoice()),
        ("adaptive:2", SlackChoice(SlackSettings("adaptive", scale=2.0))),
        ("kslack:250", SlackChoice(SlackSettings("kslack", 250_000))),
        ("kslack:last", SlackChoice(SlackSettings("kslack"), begins_with="last")),
        ("kslack:semi", SlackChoice(SlackSettings("kslack"), begins_with="semi")),
        ("duel=kslack:0:80", SlackChoice(by_detector={"duel": SlackSettings("kslack", 0, backset_us=80_000)})),
        ("target", SlackChoice(SlackSettings("target"))),
        ("target:0.01:400", SlackChoice(SlackSettings("target", target=ReleaseTarget(0.01, 400_000)))),
        (
            "progress, shot.attempt=bett ,hit=fixed:40",
            SlackChoice(
                SlackSettings("progress"),
                {"shot.attempt": SlackSettings("bett"), "hit": SlackSettings("fixed", 40_000)},
            ),
        ),
    ],
)
def test_a_text_names_policies(text: str, choice: SlackChoice):
    assert parse_slack(text) == choice


@pytest.mark.parametrize("method", METHODS)
def test_every_method_can_be_chosen_for_a_live_run(method: str):
    settings = make_settings({"slack": method})
    assert parse_slack(settings.slack).unit.method == method
    assert settings.stored_options()["slack"] == method


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("best", "must be one of"),
        ("fixed:1:2", "takes one number"),
        ("kslack:1:2:3", "takes two numbers"),
        ("progress:1", "takes no number"),
        ("fixed:x", "is no number"),
        ("fixed:-1", "is no number"),
        ("fixed:nan", "is no number"),
        ("target:2", "between 0 and 1"),
        ("=bett", "a detector is missing"),
    ],
)
def test_what_is_wrong_is_named(text: str, why: str):
    with pytest.raises(SettingsError, match=why):
        make_settings({"slack": text})


def test_a_detector_that_does_not_exist_is_refused():
    with pytest.raises(SlackError, match="no detector nothing"):
        PipelineOptions(slack=parse_slack("nothing=bett")).hierarchy(MatchSheet())
