"""Truth from the order of play's rows: body parts, times, possession chains, combinations, kinds of attack.

It needs no positions, so it is computed once the match is over, from its rows in order of time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from simulator.records import Row, object_id, team_of_row
from simulator.truth.truth_table import Lines

#: 11.1 and 11.2.
SEQUENCE_GAP_S, ONE_TWO_S = 10.0, 5.0
#: 12.9 to 12.12.
BUILD_UP_PASSES, DIRECT_S, COUNTER_S, COUNTER_M_S = 10, 15.0, 15.0, 3.0
DIRECT_SHARE = 0.5
#: 5.9.
CONTEST_S = 0.1
#: 9.11: Law 12 since 2025/26.
HOLD_WARN_S, HOLD_OFFENCE_S = 3.0, 8.0
#: 10.13: names of lost time by the restart that ends it.
LOST: Mapping[str, str] = {
    "kick_off": "goal", "throw_in": "throw-in", "corner": "corner", "goal_kick": "goal kick", "free_kick": "free kick",
    "penalty": "free kick", "dropped": "injury",
}  # fmt: skip
#: 8.7: metres nearer to the goal within the own half, across halfway, within the opponents' half.
PROGRESS_M = (30.0, 15.0, 10.0)
_BODYPARTS = {"left_foot": "left foot", "right_foot": "right foot", "left_hand": "left hand",
              "right_hand": "right hand", "head": "head", "chest": "chest"}  # fmt: skip
_BREAKS = frozenset(("pass.intercepted", "pass.out", "clearance", "out", "play.dead"))


@dataclass
class Chain:
    """A team's possession under way: its first row and that row's index, its position, its passes, and its path so far.

    ``gained`` is true if it began in play, false if it began with a restart.
    """

    team: str
    first: Row
    index: int
    gained: bool
    start: tuple[float, float]
    passes: int = 0
    path_m: float = 0.0
    forward_m: float = 0.0
    at: tuple[float, float] = (0.0, 0.0)
    in_box: bool = False
    reported: set[str] = field(default_factory=set)


def add_chains(
    rows: Sequence[Row], until_s: float, length_m: float, attacks: Mapping[int, tuple[float, float]], lines: Lines
) -> None:
    """Add the lines that follow from rows.

    Args:
        rows: of the whole match; those before ``until_s`` count.
        length_m: of the pitch.
        attacks: period -> (home's, away's) direction of attack, +1 towards +x.
        lines: receives the lines.
    """
    order = sorted((i for i, row in enumerate(rows) if row.t_s < until_s), key=lambda i: (rows[i].t_s, i))
    _contacts(rows, order, lines)
    _sequences(rows, order, lines)
    _holding(rows, order, lines)
    _times(rows, order, lines)
    _carries(rows, order, length_m / 2, attacks, lines)
    Chains(length_m, attacks, lines).follow(rows, order)


def _contacts(rows: Sequence[Row], order: Sequence[int], lines: Lines) -> None:
    """Add the body part of each contact (5.3), and contacts of two opponents at once (5.9)."""
    before: int | None = None
    for index in order:
        row = rows[index]
        if row.kind not in ("hit", "touch"):
            continue
        part = _BODYPARTS.get(row.variant, "other")
        lines.add("bodypart", row.t_s, row.person, row.position, part, causes=(-1 - index,))
        first = rows[before] if before is not None else None
        shared = first is not None and first.team != row.team and row.t_s - first.t_s <= CONTEST_S
        if first is not None and before is not None and shared:
            causes, detail = (-1 - before, -1 - index), {"other": _name(row)}
            lines.add("contest.contact", first.t_s, first.person, first.position, detail=detail, causes=causes)
        # A contest is over with its second contact.
        before = None if shared else index


def _sequences(rows: Sequence[Row], order: Sequence[int], lines: Lines) -> None:
    """Add sequences (11.1, 11.2): completed passes whose receiver is the next passer."""
    done: list[tuple[int, int]] = []  # attempt and completion, by index

    def end(t_s: float) -> None:
        if len(done) >= 2:
            last = rows[done[-1][1]]
            causes = tuple(-1 - c for _, c in done)
            detail = {"passes": len(done)}
            lines.add("sequence.end", t_s, -1, last.position, team=last.team, detail=detail, causes=causes)
        done.clear()

    for index in order:
        row = rows[index]
        if row.kind in _BREAKS:
            end(row.t_s)
        if row.kind != "pass.complete":
            continue
        attempt = next((c for c in row.causes if rows[c].kind == "pass.attempt"), None)
        if attempt is None:
            continue
        if done:
            before = rows[done[-1][1]]
            follows = before.team == row.team and before.detail.get("receiver") == _name(rows[attempt])
            if not follows or rows[attempt].t_s - before.t_s > SEQUENCE_GAP_S:
                end(min(before.t_s + SEQUENCE_GAP_S, row.t_s))
        done.append((attempt, index))
        if len(done) < 2:
            continue
        lines.add(
            "sequence.step", row.t_s, row.person, row.position, detail={"passes": len(done)}, causes=(-1 - index,)
        )
        first = rows[done[-2][0]]
        returned = row.detail.get("receiver") == _name(first)
        if returned and row.t_s - first.t_s <= ONE_TWO_S:
            causes = (-1 - done[-2][1], -1 - index)
            lines.add("onetwo", row.t_s, first.person, row.position, causes=causes)
    if order:
        end(rows[order[-1]].t_s)


def _name(row: Row) -> str:
    return object_id(row.person) if row.person >= 0 else ""


def _holding(rows: Sequence[Row], order: Sequence[int], lines: Lines) -> None:
    """Add 9.11: a goalkeeper's time with the ball in hands, from the catch to the next contact or a stop."""
    caught: int | None = None
    for index in order:
        row = rows[index]
        if caught is not None and (
            row.kind in ("play.dead", "period.end")
            or (row.kind in ("hit", "touch") and row.t_s > rows[caught].t_s + 0.1)
        ):
            start = rows[caught]
            for kind, after_s in (("gk.hold_warn", HOLD_WARN_S), ("gk.hold_offence", HOLD_OFFENCE_S)):
                if row.t_s - start.t_s > after_s:
                    lines.add(kind, start.t_s + after_s, start.person, start.position, causes=(-1 - caught,))
            caught = None
        if row.kind == "gk.catch":
            caught = index


def _carries(
    rows: Sequence[Row],
    order: Sequence[int],
    half_m: float,
    attacks: Mapping[int, tuple[float, float]],
    lines: Lines,
) -> None:
    """Add 8.7: carries that come as much nearer to the goal as a progressive pass."""
    period = 1
    begun: dict[int, int] = {}
    for index in order:
        row = rows[index]
        if row.kind == "period.start" and row.variant.isdecimal():
            period = int(row.variant)
        elif row.kind == "carry.start":
            begun[row.person] = index
        elif row.kind == "carry.end" and row.person in begun:
            start = rows[begun.pop(row.person)]
            direction = attacks.get(period, (1.0, -1.0))[0 if row.team == "home" else 1]
            from_x, to_x = start.position[0] * direction, row.position[0] * direction
            goal = half_m * direction, 0.0
            gain_m = math.dist(start.position[:2], goal) - math.dist(row.position[:2], goal)
            if gain_m >= progress_m(from_x, to_x):
                detail = {"gain_m": round(gain_m, 3)}
                lines.add("progress.carry", row.t_s, row.person, row.position, detail=detail, causes=(-1 - index,))


def progress_m(from_x_m: float, to_x_m: float) -> float:
    """Return how much nearer to the goal counts as progress (8.7), by upfield positions of beginning and end."""
    own, across, beyond = PROGRESS_M
    return own if to_x_m < 0 else across if from_x_m < 0 else beyond


def _times(rows: Sequence[Row], order: Sequence[int], lines: Lines) -> None:
    """Add 10.13: how long play was live, and dead and for what; between periods no time is lost."""
    since: int | None = None
    for index in order:
        row = rows[index]
        if row.kind == "period.end":
            since = None
        if row.kind not in ("play.live", "play.dead"):
            continue
        if since is not None and rows[since].kind != row.kind:
            seconds = round(row.t_s - rows[since].t_s, 3)
            causes = (-1 - since, -1 - index)
            kind, variant = (
                ("time.lost", LOST.get(row.variant, row.variant)) if row.kind == "play.live" else ("time.live", "")
            )
            lines.add(kind, row.t_s, -1, row.position, variant, detail={"seconds": seconds}, causes=causes)
        since = index


class Chains:
    """Possession chains and their results (11.5, 12.9 to 12.12).

    A chain begins when a team gets control or takes a restart. It ends with a shot, a goal, a stop or the loss of
    control. Its path runs along the contacts of its team.
    """

    def __init__(self, length_m: float, attacks: Mapping[int, tuple[float, float]], lines: Lines) -> None:
        self._half_m = length_m / 2
        self._attacks = attacks
        self._lines = lines
        self._period = 1
        self._chain: Chain | None = None
        self._restarts_s: set[float] = set()
        self._lost_s: dict[str, float] = {}
        # A free kick at the goal is a restart and a shot at once: what it began has ended.
        self._ended_s = -math.inf

    def follow(self, rows: Sequence[Row], order: Sequence[int]) -> None:
        """Follow the rows in order."""
        self._restarts_s = {row.t_s for row in rows if row.kind == "play.live"}
        for index in order:
            row = rows[index]
            if row.kind == "period.start":
                self._period = int(row.variant) if row.variant.isdecimal() else self._period
            elif row.kind == "play.dead":
                self._goes_on(row, index)
                self._lost_s.clear()
            elif row.kind == "possession.gain" or (row.kind.startswith("restart.") and row.t_s > self._ended_s):
                if self._chain is not None and self._chain.team != row.team:
                    self._end("loss", row, index)
                if self._chain is None:
                    self._begin(row, index)
                self._moved(row)
            else:
                self._goes_on(row, index)

    def _goes_on(self, row: Row, index: int) -> None:
        if self._chain is None:
            return
        own = row.team == self._chain.team
        if row.kind in ("hit", "touch") and own:
            self._moved(row)
        elif row.kind == "pass.complete" and own:
            self._chain.passes += 1
        elif row.kind == "shot.attempt" and own:
            self._end("goal" if row.detail.get("outcome") == "goal" else "shot", row, index)
        elif row.kind in ("goal.scored", "goal.own"):
            self._end("goal" if own else "out", row, index)
        elif row.kind == "foul" and not row.detail.get("advantage"):
            self._end("foul", row, index)
        elif row.kind in ("out", "play.dead", "period.end"):
            self._end("out", row, index)

    def _begin(self, row: Row, index: int) -> None:
        position = self._upfield(row)
        gained = row.kind == "possession.gain" and row.t_s not in self._restarts_s
        self._chain = Chain(row.team, row, index, gained, position, at=position)
        self._lines.add("chain.start", row.t_s, row.person, row.position, causes=(-1 - index,))
        if row.kind == "possession.gain" and (lost_s := self._lost_s.pop(row.team, None)) is not None:
            took_s = row.t_s - lost_s
            variant = "<5" if took_s < 5.0 else "-10" if took_s < 10.0 else ">10"
            detail = {"seconds": round(took_s, 3)}
            self._lines.add(
                "recovery.time", row.t_s, row.person, row.position, variant, detail=detail, causes=(-1 - index,)
            )

    def _moved(self, row: Row) -> None:
        chain = self._chain
        if chain is None or row.team != chain.team or any(math.isnan(v) for v in row.position[:2]):
            return
        here = self._upfield(row)
        chain.path_m += math.dist(chain.at, here)
        chain.forward_m += max(here[0] - chain.at[0], 0.0)
        chain.at = here
        if self._half_m - here[0] <= 16.5 and abs(here[1]) <= 20.16 and not chain.in_box:
            chain.in_box = True
            self._judge(row)

    def _judge(self, row: Row) -> None:
        """Classify an attack that has come to a shot or into the penalty area."""
        chain = self._chain
        assert chain is not None
        took_s = row.t_s - chain.first.t_s
        cause = (-1 - chain.index,)

        def add_attack(kind: str, at: Row) -> None:
            if kind not in chain.reported:
                chain.reported.add(kind)
                self._lines.add(kind, at.t_s, -1, at.position, team=chain.team, causes=cause)

        if chain.passes >= BUILD_UP_PASSES:
            add_attack("attack.buildup", row)
        if chain.start[0] < 0 and took_s <= DIRECT_S and chain.forward_m >= DIRECT_SHARE * chain.path_m:
            add_attack("attack.direct", row)
        gained = chain.at[0] - chain.start[0]
        counters = (
            chain.start[0] < self._half_m / 3 and took_s <= COUNTER_S and gained >= COUNTER_M_S * max(took_s, 0.1)
        )
        if counters and chain.in_box and chain.gained:
            add_attack("counter.start", chain.first)
            add_attack("counter.end", row)

    def _end(self, how: str, row: Row, index: int) -> None:
        chain, self._chain = self._chain, None
        assert chain is not None
        if row.kind == "shot.attempt":
            self._chain = chain
            self._judge(row)
            self._chain = None
        detail = {"passes": chain.passes, "seconds": round(row.t_s - chain.first.t_s, 3)}
        causes = (-1 - chain.index, -1 - index)
        self._lines.add("chain.end", row.t_s, -1, row.position, how, team=chain.team, detail=detail, causes=causes)
        self._lost_s[chain.team] = self._ended_s = row.t_s

    def _upfield(self, row: Row) -> tuple[float, float]:
        home, away = self._attacks.get(self._period, (1.0, -1.0))
        direction = home if (row.team or team_of_row(row.person)) == "home" else away
        return row.position[0] * direction, row.position[1] * direction
