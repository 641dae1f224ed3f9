"""The alive flag of a tracking system: what its operator says about the ball being in play (part of 5.10).

Theory of operation
-------------------
An operator presses a key when play stops, and when it goes on. He sees the referee, whom no tracking shows; but he is
late, by up to some seconds, and leaves out short stops. So the flag decides nothing that the ball and the players show.
It ends play that goes on although the flag has said otherwise for a while, and it is a sign, beside others, that a dead
ball is in play again.

A restart may be younger than the flag of the stop before it. So a flag that says dead counts only once it can no longer
be late about that restart.

A flag may be of another match, inverted, or later than any operator. It is held against the balls that are seen to go
out: while it has missed too many of them, it says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Annotated

import msgspec

from detectors.decisions import at_least
from detectors.reasons import reason
from football.packets import Packet, words_of_flag


class FlagParameters(msgspec.Struct, frozen=True):
    """How far the alive flag is believed.

    Attributes:
        held_us: a flag that says dead for a shorter time is no sign.
        late_us: the flag says what has happened at most so late.
        lag_us: how late it usually is, before that is known.
        lags: how late it usually is, is known of so many stops, and is their median.
        sooner_us: it is at most twice as late as usually, and by this time.
        alive_share: odds that a dead ball is in play before any sign of it but the flag.
        missed: after so many stops that it has missed, less those that it has not, it says nothing.
        missed_most: more of them do not count.
    """

    held_us: Annotated[int, reason("Ours: operators press a wrong key, and at once the right one.")] = 1_000_000
    late_us: Annotated[
        int, reason("Ours: no study is known; simulated operators are up to 3 s late (profile `ragged`).")
    ] = 3_500_000
    lag_us: Annotated[int, reason("Ours: an operator sees, decides and presses.")] = 1_000_000
    lags: Annotated[int, reason("Ours: the first minutes of a match; a median bears a wrong one of three.")] = 3
    sooner_us: Annotated[int, reason("Ours: as ball and flag are tracked, some frames each.")] = 500_000
    alive_share: Annotated[float, reason("Ours: ten times evidence.prior_share.")] = 0.3
    missed: Annotated[int, reason("Ours: operators leave out one stop in ten at most (profile `ragged`).")] = 3
    missed_most: Annotated[int, reason("Ours: a flag that is put right counts again after four stops.")] = 6


class Flag(msgspec.Struct, frozen=True, gc=False):
    """The newest word of the flag.

    Attributes:
        word: True of a ball in play; None before the flag has said so for the first time.
        changed_us: since when it says so.
        lags_us: how late it was about the newest stops whose time is known.
        missed: stops that it has missed, less those that it has not.
        missed_us: when the ball went out that it has missed last.
        believed: False while it has missed too many.
    """

    word: bool | None = None
    changed_us: int = -1
    lags_us: tuple[int, ...] = ()
    missed: int = 0
    missed_us: int = -1
    believed: bool = True

    @property
    def alive(self) -> bool | None:
        """True if it says alive, False if dead; None if it says nothing, or cannot be believed."""
        return self.word if self.believed else None

    def is_alive_since(self, after_us: int) -> bool:
        """True if it says alive, and began to after ``after_us``."""
        return self.alive is True and self.changed_us > after_us


NO_FLAG = Flag()

#: So many stops tell how late the flag is.
_LAGS_MAX = 9


def flagged(flag: Flag, p: FlagParameters, packet: Packet, out_us: int | None, *, outside: bool) -> Flag:
    """The flag after one more packet of it.

    It says nothing before it has said alive: a file may have dead throughout, because nobody set it. If it turns to
    alive while the ball is far outside, it has missed a stop.

    Args:
        flag: what it has said until now.
        p: limits.
        packet: of the flag.
        out_us: when the ball went out, if it has.
        outside: True if the ball is far outside.
    """
    for at_us, alive in zip(packet.ts_us, words_of_flag(packet), strict=True):
        if alive == flag.word or (flag.word is None and not alive):
            continue
        lags_us, missed = flag.lags_us, flag.missed
        if flag.word and out_us is not None and 0 <= at_us - out_us <= p.late_us:
            lags_us, missed = (*lags_us[1 - _LAGS_MAX :], at_us - out_us), max(missed - 1, 0)
        elif alive and outside:
            missed = min(missed + 1, p.missed_most)
        flag = Flag(alive, at_us, lags_us, missed, flag.missed_us, missed < p.missed)
    return flag


def held_against(flag: Flag, p: FlagParameters, now_us: int, out_us: int) -> Flag:
    """The flag while the ball is out since ``out_us``: it has missed that if it says alive, later than it may be.

    One that turns to alive later than that may show the restart.
    """
    until_us = out_us + p.late_us
    if not flag.word or out_us == flag.missed_us or now_us <= until_us or flag.changed_us > until_us:
        return flag
    missed = min(flag.missed + 1, p.missed_most)
    return msgspec.structs.replace(flag, missed=missed, missed_us=out_us, believed=missed < p.missed)


def _lateness_us(flag: Flag, p: FlagParameters) -> tuple[int, int]:
    """How late the flag usually is, and at most."""
    if len(flag.lags_us) < p.lags:
        return p.lag_us, p.late_us
    usual_us = round(median(flag.lags_us))
    return usual_us, min(2 * usual_us + p.sooner_us, p.late_us)


def denies(flag: Flag, p: FlagParameters, now_us: int, dead_us: int, kick_us: int) -> bool:
    """True if the flag has said dead since before a restart was known, and can no longer be late about that.

    Args:
        flag: what it says.
        p: limits.
        now_us: event time.
        dead_us: the ball counts as dead since then; what the flag said before is about this stop.
        kick_us: when the restart was taken.
    """
    if flag.alive is not False or flag.changed_us > max(dead_us, kick_us):
        return False
    since_us, about = now_us - kick_us, "phase.dead"
    return at_least("time since the restart", since_us, p.late_us, "phase.flag.late_us", about)


def restarted_by_flag_us(flag: Flag, p: FlagParameters, dead_us: int, kick_us: int, at_us: int) -> int:
    """When a restart that nobody saw was taken; if the flag does not allow for ``kick_us``, by how late it usually is.

    Args:
        flag: what it says.
        p: limits.
        dead_us: the ball counts as dead since then.
        kick_us: the time that ball and players show.
        at_us: it was not taken later.
    """
    if not flag.is_alive_since(dead_us):
        return kick_us
    usual_us, most_us = _lateness_us(flag, p)
    if flag.changed_us - most_us <= kick_us <= flag.changed_us:
        return kick_us
    return max(min(flag.changed_us - usual_us, at_us), dead_us + 1)


def stopped_by_flag_us(
    flag: Flag, p: FlagParameters, now_us: int, live_us: int, played_us: Sequence[int], whistle_us: int
) -> int | None:
    """Since when a ball that counts as in play has been dead, if the flag says so; None if it does not.

    It was stopped soon after a contact, if one was seen when the flag allows it.

    Args:
        flag: what it says.
        p: limits.
        now_us: event time.
        live_us: since then the ball counts as in play.
        played_us: the newest contacts.
        whistle_us: play is stopped at most so long after its last contact.
    """
    usual_us, most_us = _lateness_us(flag, p)
    if flag.alive is not False or now_us - live_us < p.late_us:
        return None
    held_us, about = now_us - flag.changed_us, "phase.dead"
    if not at_least("time that the flag says dead", held_us, p.held_us, "phase.flag.held_us", about):
        return None
    if flag.changed_us <= live_us:
        return live_us + 1  # Play has not gone on at all.
    oldest_us, since_us = flag.changed_us - most_us, flag.changed_us - usual_us
    last_us = max((at_us for at_us in played_us if at_us <= flag.changed_us), default=-1)
    if last_us >= 0 and last_us + whistle_us >= oldest_us:
        since_us = min(flag.changed_us, last_us + whistle_us)
    return max(since_us, live_us + 1)
