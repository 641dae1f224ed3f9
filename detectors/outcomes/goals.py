"""7.5: a goal, published when it is seen; 10.14 confirms or disallows it (IFAB Laws 8, 10).

Theory of operation
-------------------
Only the referee decides whether a ball in the goal counts. The goal is published as soon as 5.10 has it, and is
tentative until the next restart shows his decision (:mod:`detectors.outcomes.goal_verdicts`).

Decisions of the officials (1.10) overrule that. ``official.goal`` is about the team's goal of that minute: a newer
version of it follows, with the scorer that they name. If tracking had no such goal, theirs is published.

A ball that goes straight into the goal from some restarts is no goal (Laws 8, 13, 15 to 17, season 2025/26): from a
throw-in, an indirect free kick or a dropped ball, or into the goal of the taker's own team. Then a goal kick or a
corner kick follows. But a touch on the way may not have been seen: such a goal is published with little confidence and
its reason (``directly``), until the restart decides as for every other goal.

A ball that was tracked past the goal, by less than the track may be wrong, or that was in it when it was found again,
or that was lost right before it and then counted as stopped, was a goal if the team that defended there kicks off:
nothing else but a goal, or a new period, has a kick-off (Law 8). Teams change ends for a new period. That goal is
known, and confirmed, with the kick-off. If nothing was seen of a goal, a kick-off shows it later
(:mod:`detectors.outcomes.unseen_goals`).

A defender who turns in a ball that was not on target scores an own goal. On camera tracking every fifth contact is
missing, and of two players at the ball the wrong one may have it, while 97 of 100 goals are the attackers'. So if a
defender has the last contact, but an attacker was at the ball since about then, the goal is that attacker's, unless
nobody shoots from so far.
"""

from __future__ import annotations

import msgspec

from detectors.contacts.recent_contacts import Contact, opponents_of
from detectors.decisions import at_most
from detectors.emission import is_version, make_event, shown_us, withdrawal
from detectors.outcomes.goal_parameters import GoalParameters
from detectors.outcomes.goal_verdicts import is_official
from detectors.outcomes.unseen_goals import KickOffs, shown_goal, turned_round, with_kick_off, with_stop
from detectors.play.last_touch import LastTouchParameters, Touches, followed, last_touch
from detectors.play.restart_kicks import NAMES, RestartKickParameters, attackers_of, restart_kind
from detectors.signals.official import decided_us
from football.match_sheet import MatchSheet, Team, period_at
from football.payloads import EventPayload, Scalar, location_m, payload_of, time_us
from football.pitch import BAR_HEIGHT_M, ENDS, GOAL_HALF_WIDTH_M, End, end_of, end_sign, pitch_of
from middleware.detector import NOTHING, Known, Spec, Step
from middleware.events import Event


class GoalState(msgspec.Struct, frozen=True, gc=False):
    """State: the newest contacts, on camera tracking with who was at the ball; the newest version of the last goal; the
    team that attacks towards +x; the newest begin of play; the goal that the ball was if a kick-off follows;
    True if a goal explains the next kick-off; the kick-offs of the period.
    """

    touches: Touches = Touches()
    goal: Event | None = None
    attacks_x: Team = ""
    live: Event | None = None
    missed: Event | None = None
    settled: bool = False
    kick_offs: KickOffs = KickOffs()


class Goal:
    """7.5: ``goal.scored`` and ``goal.own``: a goal, tentative until 10.14 confirms it.

    ``team`` gets the goal, ``player`` scored it: the last attacker who played the ball. It is an own goal if a defender
    played it last, no attacker had shot at the goal just before, and on camera tracking none was at the ball since, or
    the defender was farther away than players shoot from; ``player`` is then that defender. ``variant`` is the end,
    empty if unknown. ``detail``: ``since_us`` (event time of the crossing), ``official`` (true if officials
    have decided it), ``directly`` (restart from which the ball went straight in though none can be scored so),
    ``kick_off`` (true if only the kick-off shows that it was a goal).
    """

    def __init__(
        self,
        sheet: MatchSheet,
        parameters: GoalParameters | None = None,
        kick: RestartKickParameters | None = None,
        touch: LastTouchParameters | None = None,
    ) -> None:
        self.parameters = parameters or GoalParameters()
        self.kick = kick or RestartKickParameters()
        self.touch = touch or LastTouchParameters()
        self.pitch = pitch_of(sheet)
        self._periods = sheet.periods
        # Limb tags show who played the ball.
        self._contacts = ("hit", "touch") if sheet.quality.limbs else ("not_near", "near", "hit", "touch")
        self.spec = Spec(
            name="goal",
            number="7.5",
            level=7,
            inputs=(
                "ball.crossed",
                "direction",
                *self._contacts,
                "out",
                "play.dead",
                "play.live",
                "goal.candidate",
                "official.goal",
                "official.var",
            ),
            outputs=("goal.scored", "goal.own"),
            parameters={**msgspec.structs.asdict(self.parameters), **msgspec.structs.asdict(self.kick)},
            source="IFAB Laws 8, 10, 13, 15-17 (2025/26); StreamTeam",
            annuls=("goal.scored", "goal.own"),
            amends=("goal.scored", "goal.own"),
            known=dict.fromkeys(
                ("goal.scored", "goal.own"),
                Known(
                    "when the crossing has settled, with the kick-off, or when teams have kept their ends",
                    "when officials decide",
                    ("player", "confidence", "official"),
                ),
            ),
            team_variants=dict.fromkeys(("goal.scored", "goal.own"), (*ENDS, "")),
            untyped=("goal.scored", "goal.own"),
            details=dict.fromkeys(("goal.scored", "goal.own"), ("since_us", "official", "directly", "kick_off")),
        )

    def initial(self) -> GoalState:
        """No contact."""
        return GoalState()

    def step(self, state: GoalState, event: Event) -> Step[GoalState]:
        """Find the scorer among the newest contacts, or follow the officials' decision."""
        payload, kick_offs = payload_of(event), state.kick_offs
        if event.kind == "direction":
            if state.attacks_x and payload.team != state.attacks_x:
                kick_offs = turned_round(kick_offs, self.parameters, event.ts_us)
            return msgspec.structs.replace(state, attacks_x=payload.team, kick_offs=kick_offs), NOTHING
        if (unseen := shown_goal(kick_offs, self.parameters, event.ts_us)) is not None:
            kick_offs = msgspec.structs.replace(kick_offs, goal=None)
            state = msgspec.structs.replace(state, goal=unseen, kick_offs=kick_offs)
            after, out = self._follow(state, event, payload)
            return after, (unseen, *out)
        return self._follow(state, event, payload)

    def _follow(self, state: GoalState, event: Event, payload: EventPayload) -> Step[GoalState]:
        if event.kind in self._contacts:
            return msgspec.structs.replace(state, touches=followed(state.touches, event, self.touch)), NOTHING
        if event.kind in ("ball.crossed", "out"):
            return self._left(state, event, payload), NOTHING
        if event.kind == "play.dead":
            return self._stopped(state, event, payload), NOTHING
        if event.kind == "play.live":
            return self._live(state, event, payload)
        if event.kind.startswith("official."):
            return self._officials(state, event, payload)
        state = msgspec.structs.replace(state, missed=None, settled=True)
        if self._same(state.goal, event.ts_us, payload.team) and is_official(state.goal):
            return state, NOTHING
        goal = self._tracked_goal(state, event, payload)
        return msgspec.structs.replace(state, goal=goal), (goal,)

    def _tracked_goal(self, state: GoalState, event: Event, payload: EventPayload) -> Event:
        """The goal of a ball that was tracked into it."""
        oldest_us = event.ts_us - self.parameters.directly_us
        contacts = tuple(c for c in state.touches.contacts if oldest_us <= c.ts_us <= event.ts_us)
        last = contacts[-1] if contacts else None
        attacker = next((c for c in reversed(contacts) if c.team == payload.team), None)
        own = last is not None and last.team == opponents_of(payload.team) and not self._shot(attacker, last, payload)
        scorer = last if own else attacker
        player = scorer.player if scorer else ""
        detail: dict[str, Scalar] = {"since_us": payload.detail["since_us"]}
        causes = (event.id, scorer.id) if scorer else (event.id,)
        confidence, directly = payload.confidence, self._directly(state, payload)
        doubtful = own and last is not None and self._in_range(last, payload)
        at_ball = last_touch(state.touches, time_us(payload, "since_us"), self.touch) if doubtful else None
        if at_ball is not None and at_ball.player:
            own, player, confidence = False, at_ball.player, min(confidence, self.parameters.missed_share)
        if directly and state.live is not None:
            confidence, detail["directly"] = min(confidence, self.parameters.doubt), directly
            causes = (*causes, state.live.id)
        goal_payload = msgspec.structs.replace(payload, player=player, confidence=confidence, detail=detail)
        kind = "goal.own" if own else "goal.scored"
        return make_event(kind, event.ts_us, event.source, goal_payload, causes=causes)

    def _left(self, state: GoalState, event: Event, left: EventPayload) -> GoalState:
        """Remember the goal that a ball out, or found in the goal, was, unless a goal explains the next kick-off."""
        by_goal = left.variant.endswith("goal mouth out") if event.kind == "ball.crossed" else "goal" in left.variant
        if not by_goal or is_version(event) or state.settled or not state.attacks_x or left.y_m is None:
            return state
        past_goal_m, about = self.parameters.past_goal_m, "goal.scored"
        wide_m, high_m = abs(left.y_m) - GOAL_HALF_WIDTH_M, (left.z_m or 0.0) - BAR_HEIGHT_M
        if not at_most("the ball past the goal", max(wide_m, high_m), past_goal_m, "goal.past_goal_m", about):
            return msgspec.structs.replace(state, missed=None)
        return self._missed(state, event, left, "right" if left.variant.startswith("right") else "left")

    def _stopped(self, state: GoalState, event: Event, dead: EventPayload) -> GoalState:
        """Remember the goal of a ball that was seen last, and counts as stopped, right before the goal line."""
        kick_offs = with_stop(state.kick_offs, state.live, time_us(dead, "since_us"), dead.x_m)
        state = msgspec.structs.replace(state, kick_offs=kick_offs)
        seen = dead.x_m is not None and dead.y_m is not None
        if dead.variant != "stop" or not seen or is_version(event) or state.settled or not state.attacks_x:
            return state
        (x_m, y_m), limit_m, about = location_m(dead), self.parameters.past_goal_m, "goal.scored"
        short_m = self.pitch.half_length_m - abs(x_m)
        if abs(y_m) > GOAL_HALF_WIDTH_M or not at_most(
            "the ball short of the goal line", short_m, limit_m, "goal.past_goal_m", about
        ):
            return state
        at = msgspec.structs.replace(event, ts_us=time_us(dead, "since_us"))
        return self._missed(state, at, dead, end_of(x_m))

    def _missed(self, state: GoalState, event: Event, left: EventPayload, end: End) -> GoalState:
        """Remember a goal at an end that a kick-off would show."""
        goal = msgspec.structs.replace(left, variant=end, team=attackers_of(state.attacks_x, end))
        return msgspec.structs.replace(state, missed=self._tracked_goal(state, event, goal))

    def _live(self, state: GoalState, event: Event, live: EventPayload) -> Step[GoalState]:
        """Publish the missed goal that a kick-off of the team that defended shows, unless teams have changed ends."""
        kind = restart_kind(self.pitch, live, self.kick)
        missed, state = state.missed, msgspec.structs.replace(state, live=event)
        if not kind:  # a ball that is fetched may be taken for play that goes on
            return state, NOTHING
        explained = missed is not None or state.settled
        state = msgspec.structs.replace(state, missed=None, settled=False)
        if kind == "kick_off":
            kick_offs, p = state.kick_offs, self.parameters
            period = period_at(self._periods, event.ts_us)
            kick_offs = with_kick_off(
                kick_offs, p, event, live, state.attacks_x, half_length_m=self.pitch.half_length_m,
                explained=explained, period=period,
            )  # fmt: skip
            state = msgspec.structs.replace(state, kick_offs=kick_offs)
        if kind != "kick_off" or missed is None:
            return state, NOTHING
        goal, since_us, limit_us = payload_of(missed), event.ts_us - missed.ts_us, self.parameters.confirm_us
        if (
            not at_most("time since the ball was out", since_us, limit_us, "goal.confirm_us", "goal.scored")
            or live.team != opponents_of(goal.team)
            or attackers_of(state.attacks_x, _end(goal)) != goal.team
        ):
            return state, NOTHING
        goal = msgspec.structs.replace(goal, confidence=live.confidence, detail={**goal.detail, "kick_off": True})
        causes = (*missed.causes, event.id)
        shown = msgspec.structs.replace(missed, ts_us=event.ts_us, payload=goal, causes=causes, dated_us=missed.ts_us)
        return msgspec.structs.replace(state, goal=shown), (shown,)

    def _in_range(self, contact: Contact, goal: EventPayload) -> bool:
        """True if a contact was where players shoot from."""
        if contact.x_m is None or contact.y_m is None:
            return True
        away_m = self.pitch.goal_distance_m(contact.x_m, contact.y_m, _end(goal))
        return at_most("the defender from the goal", away_m, self.parameters.range_m, "goal.range_m")

    def _directly(self, state: GoalState, goal: EventPayload) -> str:
        """The restart from which the ball went straight in, if none can be scored so; else empty."""
        if state.live is None:
            return ""
        live, since_us = payload_of(state.live), time_us(goal, "since_us")
        kind, kick_us = restart_kind(self.pitch, live, self.kick), time_us(live, "kick_us")
        what, limit_us = "time since the restart", self.parameters.directly_us
        if not kind or not live.player or not at_most(what, since_us - kick_us, limit_us, "goal.directly_us"):
            return ""
        if any(c.player != live.player and kick_us < c.ts_us <= since_us for c in state.touches.contacts):
            return ""
        if goal.team == opponents_of(live.team):
            return f"{NAMES[kind]} into the own goal"
        if kind == "free_kick" and live.detail["indirect"]:
            return "indirect free kick"
        return NAMES[kind] if kind in ("throw_in", "dropped") else ""

    def _same(self, goal: Event | None, at_us: int, team: Team) -> bool:
        """True if a goal is the one of a team about that time."""
        if goal is None:
            return False
        payload = payload_of(goal)
        since_us = time_us(payload, "since_us")
        return team in ("", payload.team) and abs(at_us - since_us) <= self.parameters.same_us

    def _officials(self, state: GoalState, event: Event, payload: EventPayload) -> Step[GoalState]:
        """Publish a newer version of the tracked goal, or the officials' own."""
        if event.kind == "official.var" and payload.variant != "goal":
            return state, NOTHING
        if event.kind == "official.goal":
            kick_offs = msgspec.structs.replace(state.kick_offs, goal=None)
            state = msgspec.structs.replace(state, missed=None, settled=True, kick_offs=kick_offs)
        at_us, goal = decided_us(event), state.goal
        if goal is None or not self._same(goal, at_us, payload.team):
            if event.kind == "official.var":
                return state, NOTHING
            end = "" if not state.attacks_x else "right" if payload.team == state.attacks_x else "left"
            untracked = EventPayload(end, payload.team, payload.player, detail={"since_us": at_us})
            goal = _by_officials(f"goal.{payload.variant or 'scored'}", event, untracked, payload, at_us)
            return msgspec.structs.replace(state, goal=goal), (goal,)
        tracked_payload = payload_of(goal)
        dated_us = shown_us(goal)
        kind = goal.kind if event.kind == "official.var" else f"goal.{payload.variant or 'scored'}"
        if kind == goal.kind:
            goal_payload = _confirmed_by_officials(tracked_payload, payload)
            newer = msgspec.structs.replace(
                goal, ts_us=event.ts_us, payload=goal_payload, causes=(*goal.causes, event.id), dated_us=dated_us
            )
            return msgspec.structs.replace(state, goal=newer), (newer,) if event.ts_us > goal.ts_us else NOTHING
        other = _by_officials(kind, event, tracked_payload, payload, dated_us)
        return msgspec.structs.replace(state, goal=other), (withdrawal(goal, event.ts_us), other)

    def _shot(self, attacker: Contact | None, defender: Contact, goal: EventPayload) -> bool:
        """True if the defender only deflected an attacker's shot on target."""
        if attacker is None:
            return False
        what, since_us, limit_us = "time since the shot", defender.ts_us - attacker.ts_us, self.parameters.shot_us
        if not at_most(what, since_us, limit_us, "goal.shot_us"):
            return False
        if attacker.x_m is None or attacker.y_m is None or defender.x_m is None or defender.y_m is None:
            return True
        end = _end(goal)
        towards_m = (defender.x_m - attacker.x_m) * end_sign(end)
        if towards_m <= 0.0:
            return False
        slope = (defender.y_m - attacker.y_m) / towards_m
        at_line_y_m = attacker.y_m + slope * self.pitch.depth_m(attacker.x_m, end)
        what, wide_m = "the shot from the goal's middle at the line", GOAL_HALF_WIDTH_M + self.parameters.shot_wide_m
        return at_most(what, abs(at_line_y_m), wide_m, "goal.shot_wide_m")


def _end(goal: EventPayload) -> End:
    """The end at which a goal fell."""
    return "right" if goal.variant == "right" else "left"


def _confirmed_by_officials(goal: EventPayload, decision: EventPayload) -> EventPayload:
    """A goal with the officials' scorer, and without doubt."""
    detail = {**{name: value for name, value in goal.detail.items() if name != "directly"}, "official": True}
    return msgspec.structs.replace(goal, player=decision.player or goal.player, confidence=1.0, detail=detail)


def _by_officials(kind: str, event: Event, goal: EventPayload, decision: EventPayload, at_us: int) -> Event:
    """A goal that is named by the officials' decision."""
    dated_us = at_us if at_us < event.ts_us else None
    payload = _confirmed_by_officials(goal, decision)
    return make_event(kind, event.ts_us, event.source, payload, causes=(event.id,), dated_us=dated_us)
