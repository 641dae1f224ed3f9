"""14.12: the chance of each team to win, from the score, the time that is left and the number of players.

Theory of operation
-------------------
Goals of a team come at a constant rate, and those of both teams independently (Poisson). The rates are those of a
season of a league; a sending-off multiplies them. So the goals still to come have a known distribution, and with the
score the chance of each result follows. It knows nothing of who plays: settings give other rates. The rate does not
rise towards the end, as it does in matches (Dixon and Robinson 1998), so a lead counts a little too much.
"""

from __future__ import annotations

import math
from typing import Annotated

import msgspec

from detectors.decisions import at_least
from detectors.reasons import reason
from detectors.statistics.tallies import statistic
from football.match_sheet import TEAMS, Team
from football.payloads import Scalar, number, payload_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

#: Where the numbers come from, as events say it.
MODEL = "Poisson, rates of the Premier League 2012/13"
#: No team scores more goals than these in what is left; the chance of more is below 1e-9 at usual rates.
_MOST = 20
_NORMAL, _EXTRA = 90, 120
_SHOOT_OUT = 5
#: Periods at whose end a match may be over.
_LAST_PERIODS = (2, 4)
#: Id of a cause, and numbers of home and away after it.
Sum = tuple[str, int, int]


class WinParameters(msgspec.Struct, frozen=True):
    """Rates of goals, and when a chance is published.

    Attributes:
        home_goals: goals of a home team in 90 minutes.
        away_goals: goals of an away team in 90 minutes.
        fewer_factor: factor of a team's rate for each player whom it has less than the opponents.
        more_factor: factor of a team's rate for each player whom it has more.
        added_minutes: minutes that are played after the full time.
        change_share: a chance is published at a full minute when it has changed by this.
    """

    home_goals: Annotated[
        float, reason("Premier League 2012/13: 592 goals of home teams in 380 matches. A neutral ground has none.")
    ] = 1.558
    away_goals: Annotated[float, reason("Premier League 2012/13: 471 goals of away teams in 380 matches.")] = 1.239
    fewer_factor: Annotated[
        float, reason("Ridder et al. 1994, by Červený et al. 2018: ten players score as often. At World Cups, less.")
    ] = 1.0
    more_factor: Annotated[float, reason("The same, 340 matches: eleven against ten score 88 % more often.")] = 1.88
    added_minutes: Annotated[int, reason("Ours: the announced time is not known before the 90th minute.")] = 4
    change_share: Annotated[float, reason("Ours: one in a hundred is the least that a page shows.")] = 0.01


class WinState(msgspec.Struct, frozen=True, gc=False):
    """State.

    Attributes:
        scores: of each goal that stands, its id and the score after it, in order of the goals.
        men: of each sending-off that stands, its id and how many players each team has lost then.
        minute: newest minute of the clock; -1 before the first.
        period: its period.
        published: newest published chances of home, of a draw, of away.
    """

    scores: tuple[Sum, ...] = ()
    men: tuple[Sum, ...] = ()
    minute: int = -1
    period: int = 1
    published: tuple[float, float, float] | None = None


class WinChance:
    """14.12: ``win.chance`` x team: how likely a team wins, by the score, the time that is left and the players.

    Of both teams, at the first full minute, at each one that changes a chance by 0.01, at each goal, sending-off and
    withdrawal of one, and when the stream ends after the full time: then the score is the result. Extra time counts
    once it is played; of a shoot-out nothing is said. ``detail``: ``win``, ``draw``, ``lose`` (chances, 0 to 1),
    ``home``, ``away`` (goals), ``minutes`` (that are left), ``model`` (where the rates come from). Both teams count as
    average ones of that league.
    """

    def __init__(self, parameters: WinParameters | None = None) -> None:
        self.parameters = parameters or WinParameters()
        self.spec = Spec(
            name="win_chance",
            number="14.12",
            level=14,
            inputs=("clock.minute", "state.score", "state.men", "raw.end"),
            outputs=("win.chance",),
            parameters=msgspec.structs.asdict(self.parameters),
            source="ours (Poisson); Červený et al. 2018, Empirical Economics 55 (players sent off)",
            team_variants={"win.chance": ("",)},
            details={"win.chance": ("win", "draw", "lose", "home", "away", "minutes", "model")},
        )

    def initial(self) -> WinState:
        """The clock does not run."""
        return WinState()

    def step(self, state: WinState, event: Event) -> Step[WinState]:
        """Follow clock, goals and players, to the end of the stream."""
        if event.kind == "raw.end":
            over = state.period in _LAST_PERIODS and not _minutes_left(state)
            return self._published(state, event, 0, must=True) if over else (state, NOTHING)
        payload = payload_of(event)
        if event.kind == "clock.minute":
            minute, period = int(number(payload, "minute")), int(number(payload, "period"))
            after = msgspec.structs.replace(state, minute=minute, period=period)
            return self._published(after, event, self._minutes(after), must=False)
        name = "scores" if event.kind == "state.score" else "men"
        one = None if event.annuls else (event.id, int(number(payload, "home")), int(number(payload, "away")))
        after = msgspec.structs.replace(state, **{name: _with(getattr(state, name), event.annuls or event.id, one)})
        # A sending-off is an event of each team with the same numbers: once is enough.
        must = name == "scores" or payload.team == TEAMS[0]
        return self._published(after, event, self._minutes(after), must=must)

    def _minutes(self, state: WinState) -> int:
        """Minutes that are still played, while the match goes on."""
        return _minutes_left(state) + self.parameters.added_minutes

    def _published(self, state: WinState, event: Event, minutes: int, *, must: bool) -> Step[WinState]:
        if state.minute < 0 or state.period >= _SHOOT_OUT:
            return state, NOTHING
        p, (home, away) = self.parameters, _newest(state.scores)
        lost_home, lost_away = _newest(state.men)
        chances = result_chances(home - away, *rates(p, lost_home, lost_away, minutes))
        if state.published is not None and not must:
            change = max(abs(new - old) for new, old in zip(chances, state.published, strict=True))
            if not at_least("change of a chance", change, p.change_share, "win_chance.change_share"):
                return state, NOTHING
        win, draw, lose = (round(chance, 4) for chance in chances)
        whole: dict[str, Scalar] = {"home": home, "away": away, "minutes": minutes, "model": MODEL}
        of_team: dict[Team, dict[str, Scalar]] = {
            "home": {"win": win, "draw": draw, "lose": lose, **whole},
            "away": {"win": lose, "draw": draw, "lose": win, **whole},
        }
        out = tuple(statistic("win.chance", event, team, of_team[team]) for team in TEAMS)
        return msgspec.structs.replace(state, published=chances), out


def _minutes_left(state: WinState) -> int:
    """Minutes to the full time, without those that are added."""
    return max((_NORMAL if state.period <= 2 else _EXTRA) - state.minute, 0)


def rates(p: WinParameters, lost_home: int, lost_away: int, minutes: int) -> tuple[float, float]:
    """Goals of home and away that are to be expected in some minutes, with players sent off.

    >>> [round(goals, 2) for goals in rates(WinParameters(added_minutes=4), 0, 1, 47)]
    [1.46, 0.59]
    """
    more = lost_away - lost_home
    share = minutes / (_NORMAL + p.added_minutes)
    factors = [p.more_factor**n if n > 0 else p.fewer_factor**-n for n in (more, -more)]
    return p.home_goals * share * factors[0], p.away_goals * share * factors[1]


def result_chances(lead: int, home: float, away: float) -> tuple[float, float, float]:
    """Chances that home wins, that it is a draw, that away wins.

    Args:
        lead: goals of home less those of away so far.
        home: goals of home that are still to be expected.
        away: the same of away.

    >>> [round(chance, 3) for chance in result_chances(0, 1.558, 1.239)]
    [0.445, 0.255, 0.301]
    >>> result_chances(1, 0.0, 0.0)
    (1.0, 0.0, 0.0)
    """
    win = draw = lose = 0.0
    of_home, of_away = (
        [math.exp(-mean) * mean**n / math.factorial(n) for n in range(_MOST + 1)] for mean in (home, away)
    )
    for n, chance in enumerate(of_home):
        for m, other in enumerate(of_away):
            end = lead + n - m
            both = chance * other
            if end > 0:
                win += both
            elif end < 0:
                lose += both
            else:
                draw += both
    return win, draw, lose


def _with(sums: tuple[Sum, ...], name: str, one: Sum | None) -> tuple[Sum, ...]:
    """The sums with one replaced or added, or taken out if ``one`` is None."""
    if one is None:
        return tuple(old for old in sums if old[0] != name)
    known = any(old[0] == name for old in sums)
    return tuple(one if old[0] == name else old for old in sums) if known else (*sums, one)


def _newest(sums: tuple[Sum, ...]) -> tuple[int, int]:
    return (sums[-1][1], sums[-1][2]) if sums else (0, 0)
