"""Random patterns, streams and arrival orders for tests of the engine against the definition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from detectors.patterns.language import parse
from detectors.patterns.matcher import MOST_MATCHES, Matcher
from detectors.patterns.syntax import PASSES, POSSESSIONS, PatternEvent, Query

STRATEGIES = ("stnm", "stam", "stnm-all", "stam-all", "strict")

#: Clauses of conditions; X and Y are bindings of the pattern, N a negated one.
_CONDITIONS = (
    "X.v > 1", "X.v < Y.v", "X.v != Y.v", "count(X) >= 2", "sum(Y.v) > 3", "max(X.v) <= Y.v", "X.v = max(X.v)",
    "NOT X.v = 2", "X.v = 1 OR Y.v = 1", "X.g = Y.g", "first(X.v) < last(Y.v)", "X.absent = 1 OR X.v < 3",
    "distinct(X.v) = count(X)",
)  # fmt: skip
_OF_NEGATED = ("N.v > 1", "N.v = X.v", "N.v < X.v + 1", "count(X) > N.v")


def event(name: str, ts: int | None = None, **payload: Any) -> PatternEvent:
    """An event whose name is its kind and its time in ms, such as ``a3``."""
    ts = int(name[1:]) if ts is None else ts
    return PatternEvent(ts * 1000, (name[0],), name, name[0], payload)


@st.composite
def queries(draw: st.DrawFn) -> str:
    """The text of a query over the kinds a to c."""
    names = iter("xyzuvwpqrst")
    plain: list[str] = []
    negated: list[str] = []

    def step(counts: Sequence[str], *, forbids: bool = False) -> str:
        name = next(names)
        (negated if forbids else plain).append(name)
        kind = draw(st.sampled_from("aabbc"))
        return f"{'NOT ' if forbids else ''}{kind}{draw(st.sampled_from(counts)) if not forbids else ''} {name}"

    def part(depth: int) -> str:
        shape = draw(st.sampled_from(("step", "step", "step", "or", "and") if depth else ("step",)))
        if shape == "step":
            return step(("", "", "", "+", "+", "*", "?", "{2}", "{1,2}", "{2,}"))
        return f"{shape.upper()}({part(0)}, {part(0)})"

    parts = [step(("", "", "+"))]
    if draw(st.integers(0, 4)) == 0:
        parts.insert(0, step((), forbids=True))
    for _ in range(draw(st.sampled_from((0, 0, 1, 1, 2)))):
        if draw(st.integers(0, 3)) == 0:
            parts.append(step((), forbids=True))
        parts.append(part(1))
    parts.append(step(("", "", "+")))
    if draw(st.integers(0, 4)) == 0:
        parts.append(step((), forbids=True))
    where = []
    for _ in range(draw(st.sampled_from((0, 0, 1, 2)))):
        text = draw(st.sampled_from(_CONDITIONS))
        where.append(f"({text.replace('X', draw(st.sampled_from(plain))).replace('Y', draw(st.sampled_from(plain)))})")
    for name in negated:
        if draw(st.booleans()):
            text = draw(st.sampled_from(_OF_NEGATED))
            where.append(text.replace("X", draw(st.sampled_from(plain))).replace("N", name))
    clauses = [f"PATTERN SEQ({', '.join(parts)})"]
    clauses += [f"WHERE {' AND '.join(where)}"] if where else []
    bounds = [f"{draw(st.sampled_from((3, 6, 12, 12)))} ms"]
    bounds += draw(st.sampled_from(([], [], [], ["1 pass"], ["3 passes"], ["possession"], ["2 passes", "possession"])))
    clauses += [f"WITHIN {', '.join(bounds)}"]
    clauses += ["PER g"] if draw(st.integers(0, 5)) == 0 else []
    clauses += ["TIES"] if draw(st.integers(0, 3)) == 0 else []
    return "\n".join(clauses)


@st.composite
def inputs(draw: st.DrawFn, most: int = 8) -> list[tuple[PatternEvent, int]]:
    """Events in order of arrival: late, of one instant, doubled, withdrawn, and amended."""
    events = [
        event(
            f"{kind}{number}",
            ts,
            v=draw(st.integers(1, 3)),
            **({"g": draw(st.sampled_from((1, 1, 1, 2)))} if draw(st.integers(0, 9)) else {}),
        )
        for number, (kind, ts) in enumerate(
            draw(st.lists(st.tuples(st.sampled_from("aabbc"), st.integers(0, 12)), min_size=most - 2, max_size=most))
        )
    ]
    arrivals = [(one, 1) for one in draw(st.permutations(events))]
    for _ in range(draw(st.integers(0, 3))):
        chosen = draw(st.sampled_from(events))
        place = draw(st.integers(0, len(arrivals)))
        amended = chosen._replace(payload=chosen.payload | {"v": draw(st.integers(1, 3))})
        extra = draw(st.sampled_from([[(chosen, 1)], [(chosen, -1)], [(chosen, -1), (amended, 1)]]))
        arrivals[place:place] = extra
    return arrivals


def read(text: str) -> Query:
    """A query over the kinds a to c, of which ``b`` counts as a pass, and ``c`` as the beginning of a possession."""
    query = parse(text)
    counted = {PASSES: ("b",), POSSESSIONS: ("c",)}
    return query._replace(limits=tuple(limit._replace(kinds=counted[limit.kinds]) for limit in query.limits))


def run(
    query: Query, strategy: Any, arrivals: Sequence[tuple[PatternEvent, int]], most: int = MOST_MATCHES
) -> set[tuple[str, ...]]:
    """The live set after all inputs, from the changes; checks that it never contradicts itself."""
    matcher = Matcher([query], strategy, most)
    live: set[tuple[str, ...]] = set()
    for one, diff in arrivals:
        for change in matcher.push(one, diff):
            ids = tuple(each.id for each in change.match)
            assert (ids in live) == (change.diff < 0), f"{change.diff:+} of {ids}, live {sorted(live)}"
            (live.add if change.diff > 0 else live.remove)(ids)
    assert live == {tuple(each.id for each in match) for _, match in matcher.matches()}
    return live


def standing(arrivals: Sequence[tuple[PatternEvent, int]]) -> list[PatternEvent]:
    """The events that stand after all inputs."""
    found: dict[str, PatternEvent] = {}
    for one, diff in arrivals:
        if diff > 0:
            found.setdefault(one.id, one)
        else:
            found.pop(one.id, None)
    return list(found.values())


def words(text: str) -> Query:
    """A query from a short text: what SEQ holds, and the window in ms."""
    structure, _, window = text.partition(" W")
    return parse(f"PATTERN SEQ({structure}) WITHIN {window} ms")
