"""The kinds of truth: level in the hierarchy, source, and definition of each.

``play`` kinds are written while the match is played (``simulator.play.truth_writer`` has details), ``geometry`` kinds
follow from the noiseless paths of ball, bodies and limbs, ``order`` kinds from the order of the others. The page
``docs/simulator.md`` shows this table; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

Source = Literal["play", "geometry", "order"]
_P: Source = "play"
_G: Source = "geometry"
_O: Source = "order"


class Kind(NamedTuple):
    """Level, source and definition of a kind; ``number`` is its detector's in the hierarchy, empty if it has none."""

    level: int
    number: str
    source: Source
    definition: str


def _kind(number: str, source: Source, definition: str) -> Kind:
    return Kind(int(number.partition(".")[0]) if number else 0, number, source, definition)


KINDS: Mapping[str, Kind] = {
    "ball.active_changed": _kind("1.6", _G, "another ball is in play; `ball` is its transmitter"),
    # -- level 2: the ball alone
    "ball.accel_peak": _kind("2.1", _G, "of a contact (not of bounces): peak of its half-sine pulse, 20, 55, 150 m/s2"),
    "ball.turn": _kind("2.2", _G, "of a contact: direction over ground turns by more than 0.5 rad"),
    "ball.speed_step": _kind("2.3", _G, "of a contact: speed over ground by more than 2 m/s, to less than 10"),
    "ball.static": _kind("2.4", _G, "at most 1.0 m/s for 1.8 s; dated at their end, `since_us` is their beginning"),
    "ball.moving": _kind("2.4", _G, "a ball at rest reaches 4.0 m/s, or is 2 m away from where it rested"),
    "ball.height": _kind("2.5", _G, "centre in another band (0.3, 1.5, 2.44 m) for 50 ms; dated at its beginning"),
    "ball.bounce": _kind("2.6", _G, "comes down at 0.4 m/s or more, rises again, nobody touching it"),
    "ball.speed": _kind("2.7", _G, "speed in another class (5, 15, 25 m/s) for 50 ms; dated at its beginning"),
    "ball.crossed": _kind("2.8", _G, "the whole ball out over a line (Law 9), its centre back in; interpolated"),
    "ball.in_goal": _kind("2.9", _G, "out over the goal line between the posts, centre under 2.44 m"),
    "ball.over_bar": _kind("2.9", _G, "out over the goal line between the posts, centre above 2.44 m"),
    "ball.woodwork": _kind("2.11", _P, "rebound from a post or the bar"),
    # -- level 3: players and areas
    "run.intensity": _kind("3.1", _G, "DEBS class held for 1 s; shorter ones count to the one that follows"),
    "sprint.start": _kind("3.2", _G, "24 km/h exceeded for 1 s or more; dated at its beginning"),
    "sprint.end": _kind("3.2", _G, "a sprint ends: slower than 24 km/h again"),
    "accel.effort": _kind("3.3", _G, "speed (mean of 0.1 s) grows by 3 or 4 m/s2 over 0.2 s, for 0.5 s or more"),
    "decel.effort": _kind("3.3", _G, "speed (mean of 0.1 s) falls by 3 or 4 m/s2 over 0.2 s, for 0.5 s or more"),
    "jump.take_off": _kind("3.5", _G, "0.12 m off the ground for 120 ms or more; dated when 0.12 m are passed"),
    "jump.land": _kind("3.5", _G, "a jump ends: below 0.12 m again"),
    "player.down": _kind("3.6", _P, "lies on the ground"),
    "player.up": _kind("3.6", _P, "stands again after lying on the ground"),
    "area.enter": _kind("3.9", _G, "ball or player in one of the areas of `football.areas`, every 20 ms"),
    "area.leave": _kind("3.9", _G, "ball or player 0.2 m outside an area that it was in"),
    "direction": _kind("3.12", _O, "at the start of a period: team that attacks towards +x"),
    # -- level 4: proximity
    "near": _kind("4.1", _G, "a limb within 1.0 m of the ball's centre; `contact` if within 0.35 m; every 5 ms"),
    "not_near": _kind("4.1", _G, "a limb that was near is further than 1.2 m from the ball's centre"),
    "pz.enter": _kind("4.2", _G, "body within 1.5 m of the ball over ground"),
    "pz.leave": _kind("4.2", _G, "body further than 1.7 m from the ball over ground, after `pz.enter`"),
    "opponents.near": _kind("4.4", _G, "two opponents within 3.0 m; away's, `other` is home's; every 0.2 s"),
    "opponents.apart": _kind("4.4", _G, "two opponents further than 3.5 m apart, after `opponents.near`"),
    "goal_ring": _kind("4.6", _G, "ball within 11, 16.5, 25, 35 m of the middle of a goal, 0.5 m to leave again"),
    "spot.ball": _kind("4.7", _G, "ball at 2.5 m/s or less within 2 m of a restart spot for 0.8 s; dated at their end"),
    "spot.taker": _kind("4.7", _G, "the player nearest to a ball at a restart spot, within 2 m"),
    "nearest.changed": _kind("4.3", _G, "another player is nearest to the ball: by 0.3 m, or for 0.1 s"),
    # -- level 5: contacts
    "hit": _kind("5.1", _P, "peak of 55 m/s2 or more, also hands on a dead ball; `what` is the intention"),
    "touch": _kind("5.2", _P, "softer contact"),
    "bodypart": _kind("5.3", _O, "of every hit and touch"),
    "header": _kind("5.4", _P, "contact of the head; jumping if 5 cm or more off the ground"),
    "gk.catch": _kind("5.5", _P, "a goalkeeper's hands hold the ball"),
    "gk.parry": _kind("5.5", _P, "a goalkeeper's hands turn the ball away"),
    "gk.punch": _kind("5.5", _P, "a goalkeeper punches the ball"),
    "gk.drop": _kind("5.5", _P, "a catch that failed"),
    "handball": _kind("5.6", _P, "an outfield player's hand touches the ball; the referee judges it an offence"),
    "deflection": _kind("5.7", _P, "the ball turns by less than 60 degrees off a player without intention"),
    "kick.released": _kind("5.8", _P, "the ball is 2.25 m from the player who kicked it last"),
    "contest.contact": _kind("5.9", _O, "contacts of opponents within 100 ms"),
    # -- level 6: actions and possession
    "shot.attempt": _kind("6.1", _P, "contact meant for the goal; `outcome`, `xg`, `what`"),
    "shot.on_target_pred": _kind("6.1", _P, "by its velocity at the kick it would pass inside the mouth of the goal"),
    "shot.off_target_pred": _kind("6.1", _P, "by its velocity at the kick it would miss the mouth by at most 1 m"),
    "possession.gain": _kind("6.2", _P, "who did not touch the ball last touches it in play, or restarts play"),
    "possession.loss": _kind("6.2", _P, "the player in possession: another gains the ball, or it is dead; `held_s`"),
    "team.possession": _kind("6.3", _P, "home, away, in contest (both within 0.8 s), dead (also before kick-off)"),
    "play.live": _kind("6.4", _P, "contact of a restart, `restart` is its kind; variant: cause of the stoppage"),
    "play.dead": _kind("6.4", _P, "touch, goal line, goal, stop (whistle), at once; at 0.1 s before a kick-off"),
    "out": _kind("6.5", _P, "whole ball over a line outside the goals; player and team touched it last"),
    "goal.candidate": _kind("6.6", _P, "whole ball in a goal while in play, or behind its post; team attacks it"),
    "pass.attempt": _kind("6.7", _P, "contact to send the ball to a team mate or away; `outcome`, `receiver`, `what`"),
    "duel.start": _kind("6.8", _P, "StatsBomb: tackle, take-on won, 50/50 for a ball loose for 0.5 s; fouls are apart"),
    "duel.end": _kind("6.8", _P, "the duel is decided; player: who won it"),
    "aerial.start": _kind("6.9", _P, "Opta: two opponents within 1.5 m both jump for the ball; player: the first"),
    "aerial.won": _kind("6.9", _P, "the player who touches the ball in an aerial duel"),
    "carry.start": _kind("6.10", _P, "the player in control moves the ball by 3 m or more"),
    "carry.end": _kind("6.10", _P, "the next action of the carrier"),
    "ball.loose": _kind("6.11", _P, "slower than 8 m/s, nobody within 1.5 m for 0.5 s; at the touch before"),
    # -- level 7: outcomes
    "shot.blocked": _kind("7.1", _P, "an outfield opponent is the first to touch a shot, which then misses the goal"),
    "shot.deflected": _kind("7.1", _P, "an outfield opponent is the first to touch a shot, which goes on to the goal"),
    "shot.saved": _kind("7.2", _P, "a goalkeeper's contact with a shot that would have gone in"),
    "shot.off": _kind("7.3", _P, "out over the goal line; sides as the shooter sees them"),
    "shot.post": _kind("7.4", _P, "a shot on post or bar"),
    "goal.scored": _kind("7.5", _P, "team gets the goal, player scored it; `home`, `away`: the score then"),
    "goal.own": _kind("7.5", _P, "player turned a ball in that was not on target"),
    "pass.complete": _kind("7.6", _P, "the next touch, no deflection, is a team mate's; player: passer; dated then"),
    "pass.intercepted": _kind("7.7", _P, "the next touch, no deflection, is an opponent's"),
    "pass.out": _kind("7.7", _P, "the ball left the pitch before another player touched it"),
    "interception": _kind("7.8", _P, "Opta: an opponent moves 2 m into the line of a pass of 4 m/s, and plays it"),
    "clearance": _kind("7.9", _P, "Opta: contact meant to get the ball away from the own third, for nobody"),
    "recovery": _kind("7.10", _P, "Opta: wins a loose ball, or one played to him by an opponent, and secures it"),
    "miscontrol": _kind("7.11", _P, "a touch sends the ball 3 m away, and an opponent has it in 2 s without a tackle"),
    "takeon.won": _kind("7.12", _P, "Opta: a carrier gets past an opponent who can reach the ball, and leaves him"),
    "takeon.lost": _kind("7.12", _P, "Opta: a carrier who runs at an opponent is tackled by him"),
    "tackle.won": _kind("7.13", _P, "Opta: plays the ball of who has had it for 0.3 s; own team next, or it is out"),
    "tackle.lost": _kind("7.13", _P, "Opta: the same, and the other team is next; a try that misses is no tackle"),
    "gk.claim": _kind("7.14", _P, "a goalkeeper takes a cross"),
    "gk.pickup": _kind("7.14", _P, "a goalkeeper picks up a rolling ball"),
    "gk.smother": _kind("7.14", _P, "a goalkeeper takes a ball at an opponent's feet"),
    "gk.sweep": _kind("7.14", _P, "Opta: a goalkeeper outside his penalty area takes a ball that an opponent played"),
    "offside.line": _kind("7.15", _G, "at every pass: second-last opponent, ball or halfway line; team attacks; x"),
    "offside.position": _kind("7.15", _P, "a team mate is in an offside position at a pass or shot, involved or not"),
    # -- level 8: qualifiers; dated at the kick, the attempt is their cause
    "pass.dir": _kind("8.1", _G, "the axis of the attack along which the ball moved most, from kick to end"),
    "pass.len": _kind("8.2", _G, "below 15, 30 m, more"),
    "pass.height": _kind("8.3", _G, "highest centre of all steps of the physics: below 0.3, 1.5 m, more"),
    "cross": _kind("8.4", _G, "Opta: meant as a cross, from wide of the centre lane, to a more central mate"),
    "cutback": _kind("8.4", _G, "meant by the player as a low ball back from the goal line"),
    "pass.through": _kind("8.5", _G, "meant for the space behind the defence, complete, nobody but the keeper behind"),
    "pass.switch": _kind("8.6", _G, "complete, 36.6 m or more across"),
    "progress.pass": _kind("8.7", _G, "complete, nearer to the goal by 30 m (own half), 15 m (across), 10 m"),
    "progress.carry": _kind("8.7", _O, "a carry that comes as much nearer to the goal as a progressive pass"),
    "packing": _kind("8.8", _G, "complete: opponents who had the ball before them and then behind, less the reverse"),
    "shot.xg": _kind("8.10", _G, "class of the simulator's own `xg`"),
    "keypass": _kind("8.12", _P, "completed pass before a shot, at most 10 s"),
    "assist": _kind("8.12", _P, "completed pass before a goal, at most 10 s"),
    # -- level 9: restarts, Laws, match state
    "restart.kick_off": _kind("9.1", _P, "the contact that takes it, as for all restarts"),
    "restart.throw_in": _kind("9.2", _P, "the ball leaves the hands"),
    "restart.corner": _kind("9.3", _P, "left or right as the team attacks"),
    "restart.goal_kick": _kind("9.4", _P, "short or long"),
    "restart.free_kick": _kind("9.5", _P, "direct shot, crossed, short"),
    "restart.penalty": _kind("9.6", _P, "from the mark"),
    "restart.dropped": _kind("9.7", _P, "by the referee"),
    "period.start": _kind("9.8", _P, "whistle; variant 1, 2"),
    "period.end": _kind("9.8", _P, "whistle"),
    "added_time": _kind("9.8", _P, "added time, announced before the end of a half"),
    "offside.offence": _kind("9.9", _P, "the player plays the ball, and play stops for it; `pass_us` is the kick"),
    "foul": _kind("9.10", _P, "an offence; `advantage` if play went on"),
    "advantage": _kind("9.10", _P, "the referee lets play go on, after a foul, or an offside"),
    "card": _kind("9.10", _P, "yellow, second yellow, red; shown while play is dead"),
    "whistle": _kind("9.10", _P, "the referee stops play; variant why"),
    "flag": _kind("9.10", _P, "an assistant's signal"),
    "gk.hold_warn": _kind("9.11", _O, "a goalkeeper has held the ball for 3 s: the referee begins to count"),
    "gk.hold_offence": _kind("9.11", _O, "a goalkeeper has held the ball for 8 s"),
    "sub.in": _kind("9.12", _P, "a substitute crosses the line onto the pitch"),
    "sub.out": _kind("9.12", _P, "a substituted player crosses the line off the pitch"),
    "sendoff": _kind("9.12", _P, "a player leaves for good"),
    # -- level 10 to 12
    "shape.long": _kind("10.5", _G, "outfield players over more than 35 m of length for 1 s; dated at its beginning"),
    "shape.short": _kind("10.5", _G, "outfield players over less than 25 m of length for 1 s"),
    "shape.wide": _kind("10.5", _G, "outfield players over more than 45 m of width for 1 s"),
    "shape.narrow": _kind("10.5", _G, "outfield players over less than 30 m of width for 1 s"),
    "line.high": _kind("10.6", _G, "mean of the rearmost four but the goalkeeper over 40 m from their goal line, 1 s"),
    "line.mid": _kind("10.6", _G, "mean of the rearmost four between the bounds of `line.low` and `line.high`"),
    "line.low": _kind("10.6", _G, "mean of the rearmost four less than 25 m from their goal line, 1 s"),
    "time.live": _kind("10.13", _O, "at each stop: seconds since the restart"),
    "time.lost": _kind("10.13", _O, "at each restart: seconds since the stop; variant by the restart"),
    "goal.confirmed": _kind("10.14", _P, "the referee's decision for a goal, at the signal"),
    "goal.disallowed": _kind("10.14", _P, "the referee's decision against a goal, at the signal"),
    "sequence.step": _kind("11.1", _O, "second and further completed pass, receiver is next passer, within 10 s"),
    "sequence.end": _kind("11.1", _O, "another pass breaks the sequence, or 10 s pass; `passes`"),
    "onetwo": _kind("11.2", _O, "A to B to A within 5 s from first kick to return; player: A"),
    "counterpress.start": _kind("11.6", _G, "a loser within 3 m of the ball and closing at 2 m/s, 2 s after the loss"),
    "counterpress.won": _kind("11.6", _G, "after such a start, the team gains the ball within 5 s of the loss"),
    "secondball": _kind("11.7", _O, "the next gain after an aerial duel, not the winner's, within 3 s and 10 m"),
    "run": _kind("12.1", _G, "without the ball, 4 m/s for 0.7 s, a mate has it; class from first to last place"),
    "trigger": _kind("12.3", _G, "a cue, then the nearest opponent speeds up to the ball by 2 m/s2; dated at the cue"),
    "trap": _kind("12.5", _G, "the last line steps up by 1.5 m in the second before a kick that it catches or misses"),
    "overload": _kind("12.6", _G, "two more than the opponents within 15 m of the ball in its lane for 1 s; its begin"),
    "run.recovery": _kind("12.2", _G, "ahead of the ball, 5 m/s back for 1 s, begun within 10 s of a loss; its begin"),
    "press.team.start": _kind("12.4", _G, "three opponents within 20 m close in at 2 m/s for 0.6 s; its begin"),
    "press.team.end": _kind("12.4", _G, "play stops, the ball changes teams, or fewer for 1 s: when last enough"),
    "chain.start": _kind("11.5", _O, "a team gains the ball or restarts"),
    "chain.end": _kind("11.5", _O, "shot, goal (also by that shot), loss, out, foul; `passes`, `seconds`"),
    "attack.buildup": _kind("12.9", _O, "chain with 10 passes or more at its shot or first contact in the area"),
    "attack.direct": _kind("12.10", _O, "from the own half, half of its path forward, within 15 s"),
    "counter.start": _kind("12.11", _O, "gained outside the last third, 3 m/s upfield, in the area within 15 s"),
    "counter.end": _kind("12.11", _O, "first contact of a counter in the penalty area"),
    "recovery.time": _kind("12.12", _O, "at a gain: since the team lost the ball"),
    "phase.in": _kind("13.1", _G, "the condition of 13.1 that holds for 2 s; dated at its begin"),
    "phase.out": _kind("13.2", _G, "the condition of 13.2 that holds for 2 s; dated at its begin"),
    "entry": _kind("13.7", _G, "the ball enters third or area between two contacts of a team, the second there"),
    "state.score": _kind("13.5", _O, "at each goal that stands: the team that leads, at level the one that scored"),
    "state.men": _kind("13.5", _O, "at each sending-off, of both teams: level, up, down"),
    "setpiece.shape": _kind("12.7", _G, "corner or crossed free kick: share of defenders who move with men: 25, 60 %"),
    "wall": _kind("12.8", _G, "free kick: longest row of opponents with gaps of 1.2 m, 8 to 11 m before the ball"),
    "momentum.shift": _kind("13.6", _O, "weighted shots, progress, gains in the area lead for a minute; at its end"),
    "role.swapped": _kind("13.4", _P, "two players exchange their places; the one with the smaller id"),
    "formation": _kind("12.13", _O, "shape assigned to a team, at the first kick-off and when it changes"),
}  # fmt: skip

#: Level of each kind.
LEVELS: Mapping[str, int] = {name: kind.level for name, kind in KINDS.items()}


def as_markdown() -> str:
    """The table as a page shows it."""
    head = "| kind | number | from | definition |\n|---|---|---|---|\n"
    return head + "".join(f"| `{n}` | {k.number} | {k.source} | {k.definition} |\n" for n, k in KINDS.items())
