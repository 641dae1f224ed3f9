"""15.3, 15.7 and 15.10 on hand-made causes: clips, sentences, ratings."""

from __future__ import annotations

import msgspec

from detectors.emission import make_event
from detectors.stories.clips import Clips
from detectors.stories.ratings import PlayerRating
from detectors.stories.ticker import Ticker
from football.match_sheet import MatchSheet, Player
from football.payloads import EventPayload, Scalar
from middleware.events import Event
from tests.detectors.chains.test_chains import about, standing
from tests.detectors.scene import fold

SHEET = MatchSheet(players=(Player("home_9", "home", name="Ada"), Player("away_1", "away", name="Bo", goalkeeper=True)))
SIDES = about("direction", 0.0, "home")


def void(event: Event, at_s: float) -> Event:
    """The withdrawal of an event."""
    return msgspec.structs.replace(event, ts_us=round(at_s * 1e6), seq=1, annuls=event.id, dated_us=event.ts_us)


# -- 15.3 --------------------------------------------------------------------------------------------------------


def clips(*events: Event) -> list[tuple[str, str, float, float]]:
    """Kind, variant, begin and end of what stands."""
    found = standing([Clips(SHEET)], SIDES, *events)
    bounds = ((e, (e.payload.detail[name] / 1e6 for name in ("in_us", "out_us"))) for e in found)
    return sorted((e.kind, e.payload.variant, *bound) for e, bound in bounds)


ENTRY = about("entry", 20.0, "home_6", variant="box, centre lane")
SHOT = about("shot.xg", 22.0, "home_9", xg=0.2)
LATER = about("possession.gain", 40.0, "away_4")


def test_a_clip_opens_before_the_shot_and_closes_after_it():
    assert clips(ENTRY) == [("clip.open", "big chance", 12.0, 26.0)]
    goal = about("goal.scored", 23.0, "home_9")
    assert clips(ENTRY, SHOT, LATER) == [
        ("clip.close", "big chance", 12.0, 28.0),
        ("clip.open", "big chance", 12.0, 28.0),
    ]
    assert clips(ENTRY, SHOT, goal, LATER) == [("clip.close", "goal", 12.0, 29.0), ("clip.open", "goal", 12.0, 29.0)]


def test_a_clip_of_nothing_is_withdrawn():
    assert clips(ENTRY, LATER) == []
    assert clips(ENTRY, about("shot.xg", 22.0, "home_9", xg=0.04), LATER) == []
    assert clips(about("counter.start", 20.0, "home"), LATER) == []


def test_what_opens_no_clip():
    third = about("entry", 20.0, "home_6", variant="third, centre lane")
    assert clips(third, about("takeon.won", 21.0, "home_6", (-20.0, 0.0)), about("play.dead", 22.0)) == []


def test_the_other_teams_chance_ends_a_clip_and_begins_another():
    save = about("shot.saved", 22.0, "away_1")
    answer = about("shot.xg", 25.0, "away_9", xg=0.3)
    found = [row for row in clips(ENTRY, save, answer, LATER) if row[0] == "clip.close"]
    assert found == [("clip.close", "big chance", 12.0, 28.0), ("clip.close", "big chance", 17.0, 31.0)]


# -- 15.7 --------------------------------------------------------------------------------------------------------


def ticker(*events: Event) -> list[tuple[str, str]]:
    """Variant and text of the sentences that stand."""
    return [(e.payload.variant, e.payload.detail["text"]) for e in standing([Ticker(SHEET)], *events)]


def of_source(event: Event, kind: str, at_s: float, source: str, **detail: Scalar) -> Event:
    """An event of another kind that is named by the source of one."""
    payload = EventPayload("", event.payload.team, detail=detail)
    return make_event(kind, round(at_s * 1e6), source, payload)


GOAL = about("goal.scored", 20.0, "home_9")
SCORE = of_source(GOAL, "state.score", 20.0, GOAL.source, home=1, away=0)
VERDICT = of_source(GOAL, "goal.confirmed", 60.0, "verdict", goal=GOAL.id)


def test_a_goal_is_a_preview_until_it_is_confirmed():
    assert ticker(GOAL, SCORE) == [("preview", "Goal for Home! Ada, 1:0.")]
    assert ticker(GOAL, SCORE, VERDICT) == [("confirmed", "Goal for Home! Ada, 1:0.")]


def test_a_goal_that_does_not_count_is_corrected_in_place():
    assert ticker(GOAL, SCORE, void(SCORE, 50.0)) == [("corrected", "The goal does not count.")]


def test_a_save_names_both_players_and_the_minute():
    minute = make_event("clock.minute", 1_000_000, "minute", EventPayload(detail={"shown": "45+1"}))
    out = fold(Ticker(SHEET), [minute, about("shot.saved", 20.0, "away_1", shooter="home_9")])
    assert [(e.payload.detail["text"], e.payload.detail["clock"]) for e in out] == [("Bo saves from Ada.", "45+1")]


def test_the_sentence_of_a_withdrawn_event_is_withdrawn():
    counter = msgspec.structs.replace(about("counter.start", 20.0, "home"), dated_us=None)
    offside = about("offside.offence", 30.0, "away_9")
    assert ticker(counter, void(counter, 25.0), offside, void(offside, 40.0)) == []
    assert ticker(offside) == [("confirmed", "Offside: away_9.")]


# -- 15.10 -------------------------------------------------------------------------------------------------------


def test_a_rating_shrinks_what_a_player_has_added_by_the_minutes_he_has_played():
    minute = make_event("clock.minute", 1_000_000, "minute", EventPayload(detail={"minute": 60}))
    added, shot = about("value.xt", 2.0, "home_9", added_xt=0.1), about("shot.xg", 3.0, "home_9", xg=0.2)
    out = fold(PlayerRating(SHEET), [minute, added, shot])
    assert [(e.payload.detail["rating"], e.payload.detail["value"]) for e in out] == [(0.1, 0.1), (0.3, 0.3)]
    late = about("sub.in", 1.5, "home_9")
    out = fold(PlayerRating(SHEET), [minute, late, added])
    assert out[0].payload.detail == {"rating": 0.3, "value": 0.1, "minutes": 0}
