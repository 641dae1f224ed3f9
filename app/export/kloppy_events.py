"""The actions of a match as an event data set of kloppy, and as the table that kloppy makes of it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from kloppy.domain import (
    BallState,
    BodyPart,
    BodyPartQualifier,
    CardQualifier,
    CardType,
    CarryResult,
    DatasetFlag,
    DuelQualifier,
    DuelResult,
    DuelType,
    EventDataset,
    EventFactory,
    ExpectedGoals,
    GoalkeeperActionType,
    GoalkeeperQualifier,
    Ground,
    InterceptionResult,
    Metadata,
    Orientation,
    PassQualifier,
    PassResult,
    PassType,
    Period,
    Player,
    Point,
    PositionType,
    Provider,
    SetPieceQualifier,
    SetPieceType,
    ShotResult,
    TakeOnResult,
    Team,
    build_coordinate_system,
)
from kloppy.domain.models.event import UnderPressureQualifier

from app.export.actions import PLACELESS, Action, Match

_PASS_RESULTS = {
    "complete": PassResult.COMPLETE, "intercepted": PassResult.INCOMPLETE, "out": PassResult.OUT,
    "offside": PassResult.OFFSIDE,
}  # fmt: skip

_SHOT_RESULTS = {
    "goal": ShotResult.GOAL, "saved": ShotResult.SAVED, "blocked": ShotResult.BLOCKED, "deflected": ShotResult.BLOCKED,
    "post": ShotResult.POST, "wide left": ShotResult.OFF_TARGET, "wide right": ShotResult.OFF_TARGET,
    "over": ShotResult.OFF_TARGET,
}  # fmt: skip

_SET_PIECES = {
    "corner": SetPieceType.CORNER_KICK, "free_kick": SetPieceType.FREE_KICK, "throw_in": SetPieceType.THROW_IN,
    "goal_kick": SetPieceType.GOAL_KICK, "kick_off": SetPieceType.KICK_OFF, "penalty": SetPieceType.PENALTY,
}  # fmt: skip

_BODY = {
    "left foot": BodyPart.LEFT_FOOT, "right foot": BodyPart.RIGHT_FOOT, "head": BodyPart.HEAD,
    "chest": BodyPart.CHEST, "left hand": BodyPart.LEFT_HAND, "right hand": BodyPart.RIGHT_HAND,
    "other": BodyPart.OTHER,
}  # fmt: skip

_CARDS = {
    "yellow": CardType.FIRST_YELLOW, "second yellow": CardType.SECOND_YELLOW, "red": CardType.RED,
}  # fmt: skip

_KEEPER = {
    "save": GoalkeeperActionType.SAVE, "claim": GoalkeeperActionType.CLAIM, "punch": GoalkeeperActionType.PUNCH,
    "pick_up": GoalkeeperActionType.PICK_UP,
}  # fmt: skip


def kloppy_events(match: Match) -> EventDataset:
    """The actions as kloppy's event data set: metres from the centre spot, ids of ours, teams that change ends."""
    teams, periods = _teams(match), _periods(match)
    players = {player.player_id: player for team in teams.values() for player in team.players}
    records = [
        record
        for action in match.actions
        if action.player in players
        for record in _build(match, action, teams[action.team], players, periods[action.period])
    ]
    sheet = match.events.sheet
    system = build_coordinate_system(
        Provider.SECONDSPECTRUM, pitch_length=sheet.length_m, pitch_width=sheet.width_m
    )  # the one with metres from the centre spot, +y up
    first = match.events.attacks_x("home", match.events.clock.begins[0][0])
    metadata = Metadata(
        teams=list(teams.values()), periods=list(periods.values()), pitch_dimensions=system.pitch_dimensions,
        score=None, frame_rate=None, provider=Provider.OTHER, coordinate_system=system, game_id=sheet.match_id,
        orientation={1: Orientation.HOME_AWAY, -1: Orientation.AWAY_HOME}.get(first or 0, Orientation.NOT_SET),
        flags=DatasetFlag.BALL_OWNING_TEAM | DatasetFlag.BALL_STATE,
    )  # fmt: skip
    return EventDataset(metadata=metadata, records=records)


def _teams(match: Match) -> dict[str, Team]:
    sheet, teams = match.events.sheet, {}
    for side, name, ground in (("home", sheet.home, Ground.HOME), ("away", sheet.away, Ground.AWAY)):
        teams[side] = team = Team(team_id=side, name=name, ground=ground)
        team.players = [
            Player(
                player_id=player.object_id, team=team, jersey_no=player.shirt, name=player.name or None,
                starting=player.starts,
                starting_position=PositionType.Goalkeeper if player.goalkeeper else PositionType.Unknown,
            )
            for player in sheet.players
            if player.team == side
        ]  # fmt: skip
    return teams


def _periods(match: Match) -> dict[int, Period]:
    last_us = max(action.end_us for action in match.actions) + 1
    return {
        number: Period(number, timedelta(microseconds=begin_us), timedelta(microseconds=end_us))
        for number, begin_us, end_us in match.events.clock.spans(last_us)
    }


def _build(match: Match, action: Action, team: Team, players: dict[str, Player], period: Period) -> list[Any]:
    """The records of an action; a card is a record of its own, after the foul it is for."""
    common = _common(action, team, players, period)
    if action.kind in ("foul", "card"):
        return _discipline(action, common)
    if action.kind == "substitution":
        on = players.get(str(action.row["replacement"]))
        return [EventFactory().build_substitution(**common, result=None, replacement_player=on)] if on else []
    return [_on_the_ball(action, players, common)]


def _common(action: Action, team: Team, players: dict[str, Player], period: Period) -> dict[str, Any]:
    """The values that every record of kloppy has."""
    dead = action.kind in ("foul", *PLACELESS)
    return {
        "period": period, "timestamp": timedelta(seconds=action.period_s), "event_id": action.id, "team": team,
        "player": players[action.player], "ball_owning_team": None if dead else team,
        "coordinates": None if action.kind in PLACELESS else Point(*action.start),
        "ball_state": BallState.DEAD if dead else BallState.ALIVE, "raw_event": action.row, "related_event_ids": [],
        "freeze_frame": None, "statistics": [], "qualifiers": _qualifiers(action),
    }  # fmt: skip


def _discipline(action: Action, common: dict[str, Any]) -> list[Any]:
    factory, card = EventFactory(), _CARDS.get(action.outcome)
    found = [factory.build_foul_committed(**common, result=None)] if action.kind == "foul" else []
    if card:
        named = common if action.kind == "card" else {**common, "event_id": f"{action.id}/card"}
        found.append(factory.build_card(**{**named, "qualifiers": []}, result=None, card_type=card))
    return found


def _on_the_ball(action: Action, players: dict[str, Player], common: dict[str, Any]) -> Any:
    row, factory = action.row, EventFactory()
    end = timedelta(seconds=action.period_s) + timedelta(microseconds=action.end_us - action.ts_us)
    if action.kind == "pass":
        return factory.build_pass(
            **common, result=_PASS_RESULTS.get(action.outcome), receive_timestamp=end,
            receiver_coordinates=Point(*action.end), receiver_player=players.get(str(row.get("receiver"))),
        )  # fmt: skip
    if action.kind == "shot":
        xg = row.get("xg")
        common["statistics"] = [ExpectedGoals(value=xg)] if isinstance(xg, float) else []
        return factory.build_shot(
            **common, result=_SHOT_RESULTS.get(action.outcome), result_coordinates=Point(*action.end)
        )
    if action.kind == "own_goal":
        return factory.build_shot(**common, result=ShotResult.OWN_GOAL, result_coordinates=Point(*action.end))
    if action.kind == "carry":
        return factory.build_carry(
            **common, result=CarryResult.COMPLETE, end_timestamp=end, end_coordinates=Point(*action.end)
        )
    if action.kind == "take_on":
        won = TakeOnResult.COMPLETE if action.outcome == "won" else TakeOnResult.INCOMPLETE
        return factory.build_take_on(**common, result=won)
    if action.kind == "tackle":
        return factory.build_duel(**common, result=DuelResult.WON if action.outcome == "won" else DuelResult.LOST)
    if action.kind == "interception":
        result = InterceptionResult.OUT if action.outcome == "to out" else InterceptionResult.SUCCESS
        return factory.build_interception(**common, result=result)
    if action.kind == "clearance":
        return factory.build_clearance(**common, result=None)
    return factory.build_goalkeeper_event(**common, result=None)


def _qualifiers(action: Action) -> list[Any]:
    row, found = action.row, []
    if (piece := _SET_PIECES.get(str(row.get("restart")))) is not None:
        found.append(SetPieceQualifier(value=piece))
    if (part := _BODY.get(str(row.get("body_part")))) is not None:
        found.append(BodyPartQualifier(value=part))
    if row.get("under_pressure"):
        found.append(UnderPressureQualifier(value=True))
    if action.kind == "foul" and (card := _CARDS.get(action.outcome)):
        found.append(CardQualifier(value=card))
    if action.kind == "tackle":
        found.append(DuelQualifier(value=DuelType.GROUND))
    if action.kind in _KEEPER:
        found.append(GoalkeeperQualifier(value=_KEEPER[action.kind]))
    passes = {
        PassType.CROSS: row.get("cross") == "cross", PassType.THROUGH_BALL: row.get("through_ball"),
        PassType.SWITCH_OF_PLAY: row.get("switch"), PassType.HIGH_PASS: row.get("height") == "high",
        PassType.SHOT_ASSIST: row.get("key_pass"), PassType.ASSIST: row.get("assist"),
    }  # fmt: skip
    return found + [PassQualifier(value=kind) for kind, there in passes.items() if there and action.kind == "pass"]
