"""Substitutions, injuries, sendings-off (Laws 3 and 12). Persons walk on and off the pitch."""

from __future__ import annotations

import math

from simulator.play import ball_retrieval
from simulator.play.match_state import Change, Restart, State, Whistle
from simulator.play.squads import SHAPES
from simulator.play.stoppages import ADDED_S
from simulator.play.truth_writer import id_of
from simulator.records import SQUAD, STARTERS

#: Law 3: substitutes a team may use, in so many stops of play (the break does not count).
SUBSTITUTES, WINDOWS = 5, 3
#: A stop must still be so long for a substitution.
_STOP_S = 6.0


def go_down(state: State, row: int, for_s: float, cause: int = -1) -> None:
    """Let a person fall and lie for a while."""
    if state.bodies.is_busy(row):
        return
    state.bodies.fall(row, for_s)
    state.idle_s[row] = state.now_s + for_s
    x, y = state.xy(row)
    down = state.truth.add("player.down", state.now_s, row, (x, y, 0.3), "", (cause,))
    state.down[row] = (state.now_s + for_s, down)
    if state.holder == row:
        state.holder, state.action = -1, None
        state.redirect_ball()


def get_up(state: State) -> None:
    """Write the rows of persons who are on their feet again."""
    for row, (until_s, down) in list(state.down.items()):
        if state.now_s >= until_s:
            del state.down[row]
            x, y = state.xy(row)
            state.truth.add("player.up", state.now_s, row, (x, y, 0.9), "", (down,))


def perhaps_injured(state: State, cause: int, chance: float) -> None:
    """Draw whether a person on the ground needs treatment: play waits, and sometimes the player is replaced."""
    lying = [row for row in state.down if state.is_playing[row]]
    if not lying or not state.chance(chance):
        return
    row = lying[-1]
    _, down = state.down[row]
    treated_s = float(state.rng.uniform(20.0, 60.0))
    if not state.is_keeper(row):
        state.bodies.fall(row, treated_s)
        state.down[row] = (state.now_s + treated_s, down)
        state.idle_s[row] = state.now_s + treated_s
    state.hold_until_s = max(state.hold_until_s, state.now_s + treated_s + 3.0)
    state.lost_s += treated_s
    if state.chance(0.25) and not state.is_keeper(row):
        state.unfit.add(row)


def collapse(state: State) -> None:
    """Draw once a second of live play whether a player goes down without a foul; the referee stops play."""
    if state.whistle is not None or not state.chance(0.00016 * state.settings.interruptions):
        return
    row = int(state.rng.choice(state.outfield[int(state.rng.integers(2))]))
    if row == state.holder or state.bodies.is_busy(row):
        return
    go_down(state, row, 25.0)
    team = int(state.team[state.last])
    x, y, _ = state.ball.position
    at_s = state.now_s + float(state.rng.uniform(2.0, 8.0))
    state.whistle = Whistle(at_s, "injury", team, (x, y), state.down[row][1])


# -- sendings-off ---------------------------------------------------------------------------------------------


def send_off(state: State, row: int, cause: int) -> None:
    """Send a player off for good; the team plays on with one less."""
    x, y = state.xy(row)
    state.truth.add("sendoff", state.now_s, row, (x, y, 0.9), "", (cause,))
    state.sent_off.append(row)
    slot = _leave_slot(state, row)
    _close_ranks(state, int(state.team[row]), slot)
    state.walking[row] = (math.copysign(4.0, float(row) - SQUAD + 0.5) * 1.5, -state.half_y - 7.0)


def _close_ranks(state: State, team: int, slot: int) -> None:
    """With ten players, fill goal, last line and midfield; a forward is missing."""
    slots = state.slots[team]
    field = [n for n, row in enumerate(slots) if row >= 0 and n]
    front = [n for n in field if state.depth_of[slots[n]] > 0.6]
    if slot == 0:
        # A team has a goalkeeper (Law 3): a field player takes the gloves.
        spare = max(front or field, key=lambda n: float(state.ability["keeping"][slots[n]]))
    elif not front or SHAPES[state.shapes[team]][slot - 1][1] > 0.6:
        return
    else:
        spare = min(front, key=lambda n: float(state.ability["pace"][slots[n]]))
    slots[slot], slots[spare] = slots[spare], -1
    state.regroup()


def _leave_slot(state: State, row: int) -> int:
    """Take a player out of the slot; return which one it was."""
    team = int(state.team[row])
    slot = state.slots[team].index(row)
    state.slots[team][slot] = -1
    state.regroup()
    if state.restart is not None:
        _hand_over(state, state.restart, row)
    return slot


def _hand_over(state: State, restart: Restart, row: int) -> None:
    """Replace a leaving player as taker or fetcher of the awaited restart.

    If somebody else has the ball in the hands, that person keeps it.
    """
    if row == restart.taker:
        restart.taker = _other_taker(state)
        if restart.stage == "run_up":
            restart.stage = "placed"
    if row == restart.fetcher:
        restart.fetcher = restart.taker
        if state.ball.in_hands and restart.stage != "putting":
            ball_retrieval.put_down(state)
            restart.stage, restart.brought_s = "rolling", -1.0


def _other_taker(state: State) -> int:
    """Return another taker of the awaited restart."""
    restart = state.restart
    assert restart is not None
    leaving = [change.off for change in state.changes]
    rows = [int(r) for r in state.outfield[restart.team] if int(r) not in leaving]
    return min(rows, key=lambda r: state.gap(r, *restart.spot))


# -- substitutions --------------------------------------------------------------------------------------------


def draw_times(state: State) -> None:
    """Draw when each team changes how many players, as shares of the match's length."""
    for team in (0, 1):
        windows = sorted(float(state.rng.uniform(0.52, 0.97)) for _ in range(WINDOWS))
        numbers = [1, 1, 1]
        for _ in range(int(state.rng.integers(0, SUBSTITUTES - WINDOWS + 1))):
            numbers[int(state.rng.integers(WINDOWS))] += 1
        state.windows[team] = list(zip(windows, numbers, strict=True))


def consider(state: State) -> None:
    """Begin the substitutions that are due while play is dead, if the stop is long enough."""
    restart = state.restart
    if restart is None or state.changes or restart.stage not in ("rolling", "fetching", "brought", "carrying"):
        return
    if restart.earliest_s - state.now_s < _STOP_S or restart.kind == "penalty":
        return
    played = (state.period - 1) * state.settings.half_s + state.now_s - state.period_since_s
    share = played / (2.0 * state.settings.half_s)
    for team in (0, 1):
        hurt = [row for row in state.unfit if state.team[row] == team and state.is_playing[row]]
        due = [window for window in state.windows[team] if window[0] <= share]
        if not (hurt or due) or state.used[team] >= SUBSTITUTES:
            continue
        number = len(hurt)
        if due:
            state.windows[team].remove(due[0])
            number = max(number, due[0][1])
        for _ in range(min(number, SUBSTITUTES - state.used[team])):
            _begin(state, team, hurt.pop() if hurt else -1)


def _begin(state: State, team: int, off: int) -> None:
    leaving = {change.off for change in state.changes}
    restart = state.restart
    assert restart is not None
    busy = leaving | {restart.fetcher} | set(state.down)
    if off < 0:
        rows = [int(r) for r in state.outfield[team] if int(r) not in busy and r % SQUAD < STARTERS]
        if not rows:
            return
        # The front tires first.
        weight = [0.5 + float(state.depth_of[r]) + float(state.rng.random()) for r in rows]
        off = rows[weight.index(max(weight))]
    coming = {change.on for change in state.changes}
    bench = [r for r in range(team * SQUAD + STARTERS, (team + 1) * SQUAD) if r not in state.used_substitutes | coming]
    if not bench or off in leaving:
        return
    depth = float(state.depth_of[off])
    roles = ("cb", "fb") if depth < 0.2 else ("cm", "fb") if depth < 0.6 else ("wg", "st", "cm")
    fitting = [r for r in bench if state.squads.people[r].role in roles]
    on = (fitting or bench)[0]
    state.used[team] += 1
    state.used_substitutes.add(on)
    state.unfit.discard(off)
    state.changes.append(Change(off, on))
    if off == restart.taker:
        _hand_over(state, restart, off)
    state.lost_s += ADDED_S["substitution"]


def gate(state: State, row: int) -> tuple[float, float]:
    """Return where a team's players leave and enter: at the halfway line, on the side of the benches."""
    return (-1.2 if state.team[row] == 0 else 1.2), -state.half_y


def step(state: State) -> None:
    """Play a tick of persons who leave and enter."""
    for change in state.changes:
        _walk(state, change)
    state.changes = [change for change in state.changes if change.off >= 0 or change.on >= 0]
    for row, position in list(state.walking.items()):
        state.targets[row], state.paces[row] = position, 2.0
        state.facing[row] = math.nan
        if state.gap(row, *position) < 0.5:
            state.seats[row] = position
            del state.walking[row]


def _walk(state: State, change: Change) -> None:
    x, y = gate(state, change.on if change.off < 0 else change.off)
    off, on = change.off, change.on
    if not change.is_off:
        state.targets[off], state.paces[off] = (x, y - 2.0), 3.2
        state.facing[off] = math.nan
        # The one who comes on waits at the line.
        state.targets[on], state.paces[on] = (x + math.copysign(1.0, x), y - 1.2), 2.4
        state.facing[on] = math.pi / 2
        if state.columns[off, 1] < y - 0.1:
            change.is_off = True
            cx, cy = state.xy(off)
            change.cause = state.truth.add("sub.out", state.now_s, off, (cx, cy, 0.9), "", (), on=id_of(on))
            team = int(state.team[off])
            slot = _leave_slot(state, off)
            state.vacant[on] = (team, slot)
            state.walking[off] = (2.0 * x + math.copysign(7.0, x), -state.half_y - 5.5)
        return
    state.targets[on], state.paces[on] = (x, y + 3.0), 4.0
    state.facing[on] = math.nan
    if state.columns[on, 1] > y + 0.1:
        cx, cy = state.xy(on)
        state.truth.add("sub.in", state.now_s, on, (cx, cy, 0.9), "", (change.cause,), off=id_of(off))
        team, slot = state.vacant.pop(on)
        state.slots[team][slot] = on
        state.regroup()
        change.off = change.on = -1
