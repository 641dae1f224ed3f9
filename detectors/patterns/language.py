"""The language of patterns as text: :func:`parse` reads a query, and names line, column and mend where it cannot."""

from __future__ import annotations

from typing import Any

from lark import Lark, Token, Transformer, UnexpectedCharacters, UnexpectedInput, UnexpectedToken, v_args
from lark.exceptions import VisitError

from detectors.patterns.syntax import (
    AGGREGATES,
    FUNCTIONS,
    PASSES,
    POSSESSIONS,
    And,
    Limit,
    Node,
    Or,
    PatternError,
    Position,
    Query,
    Seq,
    Step,
    Strategy,
)

#: The grammar; docs/patterns.md shows it with examples. Keywords are written in any case.
GRAMMAR = r"""
query: PATTERN [name "="] part clause*
?part: SEQ "(" part ("," part)* ")" -> seq
     | AND "(" part ("," part)* ")" -> conjunction
     | OR "(" part ("," part)* ")"  -> disjunction
     | step
step: [NOT] kind [count] [name] [LIST]
kind: NAME | TEXT
name: NAME
count: MANY | "{" INT ["," [INT]] "}"

?clause: WHERE condition           -> where
       | WITHIN bound ("," bound)* -> within
       | PER name ("," name)*      -> per
       | STRATEGY STRATEGIES       -> strategy
       | TIES                      -> ties
       | RETURN result ("," result)* -> returning
bound: NUMBER UNIT | NUMBER PASSES | POSSESSION
result: name "=" sum

?condition: both (OR both)*
?both: negation (AND negation)*
?negation: NOT negation -> negated
         | comparison
?comparison: sum [COMPARE sum]
?sum: product (PLUS product)*
?product: value (TIMES value)*
?value: NUMBER               -> number
      | TEXT                 -> text
      | TRUTH                -> truth
      | PLUS value           -> signed
      | NAME [LIST ["." NAME]] -> field
      | NAME "(" sum ("," sum)* ")" -> call
      | "(" condition ")"

PATTERN.3: /PATTERN(?![\w.-])/i
SEQ.3: /SEQ(?![\w.-])/i
AND.3: /AND(?![\w.-])/i
OR.3: /OR(?![\w.-])/i
NOT.3: /NOT(?![\w.-])|!(?!=)/i
WHERE.3: /WHERE(?![\w.-])/i
WITHIN.3: /WITHIN(?![\w.-])/i
PER.3: /PER(?![\w.-])/i
STRATEGY.3: /STRATEGY(?![\w.-])/i
TIES.3: /TIES(?![\w.-])/i
RETURN.3: /RETURN(?![\w.-])/i
TRUTH.3: /(TRUE|FALSE)(?![\w.-])/i
STRATEGIES.4: /(stnm-all|stam-all|stnm|stam|strict)(?![\w.-])/i
UNIT.4: /(us|ms|s|secs?|seconds?|mins?|minutes?|h|hours?|d|days?)(?![\w.-])/i
PASSES.4: /passes|pass/i
POSSESSION.4: /possession/i
LIST: "[" "]"
MANY: "+" | "*" | "?"
COMPARE: "<=" | ">=" | "!=" | "==" | "=" | "<>" | "<" | ">"
PLUS: "+" | "-"
TIMES: "*" | "/"
NAME: /[A-Za-z_]\w*(\.\w+)*(\.\*)?/
TEXT: /"[^"\n]*"|'[^'\n]*'/
INT: /\d+/
NUMBER: /\d+(\.\d+)?([eE][+-]?\d+)?/
%ignore /\s+/
%ignore /(#|--)[^\n]*/
"""

#: Window of a pattern that WITHIN bounds by passes or possession alone.
WITHOUT_TIME_US = 600_000_000

_UNITS_US = {"u": 1, "ms": 1_000, "s": 1_000_000, "m": 60_000_000, "h": 3_600_000_000, "d": 86_400_000_000}
_SAME = {"==": "=", "<>": "!="}

#: Terminals of the grammar in words, for errors.
_WORDS = {
    "LPAR": "(", "RPAR": ")", "COMMA": ",", "EQUAL": "=", "LIST": "[]", "MANY": "+, *, ?", "LBRACE": "{", "RBRACE": "}",
    "NAME": "a name", "TEXT": "a text in quotes", "NUMBER": "a number", "INT": "a whole number",
    "UNIT": "a unit (ms, s, min, h)", "STRATEGIES": "stnm, stam, stnm-all, stam-all or strict",
    "COMPARE": "a comparison", "PASSES": "passes", "POSSESSION": "possession",
    "PLUS": "+ or -", "TIMES": "* or /", "$END": "the end", "TRUTH": "TRUE or FALSE", "DOT": ".",
}  # fmt: skip


def parse(text: str) -> Query:
    """Read a query.

    Args:
        text: a query as docs/patterns.md describes it; the query files of paper 003 are such.

    Raises:
        PatternError: with line, column and mend.
    """
    try:
        tree = _PARSER.parse(text)
        query: Query = _Builder().transform(tree)
    except UnexpectedToken as error:
        raise _unexpected(text, error, error.accepts or error.expected) from None
    except UnexpectedCharacters as error:
        raise _unexpected(text, error, error.allowed or set()) from None
    except VisitError as error:
        raise error.orig_exc from None
    return query


def _unexpected(text: str, error: UnexpectedInput, expected: set[str]) -> PatternError:
    """The error for what cannot stand at a place of a text."""
    lines = text.split("\n")
    line, column = error.line, error.column
    ended = isinstance(error, UnexpectedToken) and error.token.type == "$END"
    if ended or line < 1:
        line, column = len(lines), len(lines[-1]) + 1
    found = lines[line - 1][column - 1 :].split() if line <= len(lines) else []
    what = f"{found[0]} cannot stand here" if found and not ended else "the query ends too early"
    words = sorted(_WORDS.get(name, name) for name in expected)
    return PatternError(what, f"Here may stand: {', '.join(words)}", (line, column))


def _at(token: Any) -> Position:
    return (token.line, token.column)


@v_args(inline=True)
class _Builder(Transformer[Token, Query]):
    """Makes the parts of a query from the parse tree."""

    def query(self, pattern: Token, name: Token | None, part: Any, *clauses: tuple[str, Any, Position]) -> Query:
        found: dict[str, Any] = {}
        for clause, value, at in clauses:
            if clause in found:
                raise PatternError(f"a second {clause.removesuffix('_us').upper()}", "Join the two", at)
            found[clause] = value
        if "within_us" not in found:
            raise PatternError("the pattern has no window", "Add WITHIN, such as WITHIN 10 s", _at(pattern))
        within_us, limits = found.pop("within_us")
        return Query(part, within_us, limits, name=str(name or ""), **found)

    def seq(self, _: Token, *parts: Any) -> Seq:
        return Seq(parts)

    def conjunction(self, _: Token, *parts: Any) -> And:
        return And(parts)

    def disjunction(self, _: Token, *parts: Any) -> Or:
        return Or(parts)

    def step(
        self, negation: Token | None, kind: Token, count: tuple[int, int | None] | None, name: Token | None, _: Any
    ) -> Step:
        if negation and count:
            raise PatternError("NOT takes one event", "Leave out the repetition", _at(kind))
        least, most = count or (1, 1)
        return Step(str(kind), str(name or ""), least, most, negation is not None, _at(negation or kind))

    def kind(self, token: Token) -> Token:
        return token.update(value=token[1:-1]) if token.type == "TEXT" else token

    def name(self, token: Token) -> Token:
        return token

    def count(self, first: Token, *rest: Token | None) -> tuple[int, int | None]:
        if first.type == "MANY":
            least, most = {"+": (1, None), "*": (0, None), "?": (0, 1)}[str(first)]
            return least, most
        least = int(first)
        bound = least if not rest else int(rest[0]) if rest[0] is not None else None
        if bound is not None and (bound < least or bound == 0):
            raise PatternError(f"{{{least},{bound}}} counts nothing", "Write {least,most}", _at(first))
        return least, bound

    def where(self, _: Token, node: Node) -> tuple[str, Any, Position]:
        return "where", node, _at(_)

    def bound(self, first: Token, unit: Token | None = None) -> tuple[Token, int | Limit]:
        if unit is None:
            return first, Limit(POSSESSIONS, 0, with_first=False)
        if unit.type == "PASSES":
            if not first.isdigit():
                raise PatternError(f"{first} passes are none", "Write a whole number", _at(first))
            return first, Limit(PASSES, int(first), with_first=True)
        short = unit.lower()
        return first, round(float(first) * _UNITS_US["ms" if short == "ms" else short[0]])

    def within(self, at: Token, *bounds: tuple[Token, int | Limit]) -> tuple[str, Any, Position]:
        times: list[int] = []
        limits: dict[tuple[str, ...], Limit] = {}
        for token, bound in bounds:
            if (bound.kinds in limits) if isinstance(bound, Limit) else bool(times):
                raise PatternError("WITHIN has two bounds of one sort", "Keep the smaller", _at(token))
            if isinstance(bound, Limit):
                limits[bound.kinds] = bound
            else:
                times.append(bound)
        return "within_us", (times[0] if times else WITHOUT_TIME_US, tuple(limits.values())), _at(at)

    def per(self, at: Token, *names: Token) -> tuple[str, Any, Position]:
        return "keys", tuple(str(name) for name in names), _at(at)

    def strategy(self, at: Token, name: Token) -> tuple[str, Any, Position]:
        chosen: Strategy = name.lower()  # type: ignore[assignment]
        return "strategy", chosen, _at(at)

    def ties(self, at: Token) -> tuple[str, Any, Position]:
        return "ties", True, _at(at)

    def returning(self, at: Token, *results: tuple[str, Node]) -> tuple[str, Any, Position]:
        return "returns", results, _at(at)

    def result(self, name: Token, node: Node) -> tuple[str, Node]:
        return str(name), node

    def condition(self, first: Node, *rest: Any) -> Node:
        return self._joined("or", first, rest)

    def both(self, first: Node, *rest: Any) -> Node:
        return self._joined("and", first, rest)

    def _joined(self, op: str, first: Node, rest: tuple[Any, ...]) -> Node:
        nodes = [first, *(one for one in rest if isinstance(one, Node))]
        return Node(op, tuple(nodes), first.at) if len(nodes) > 1 else first

    def negated(self, token: Token, node: Node) -> Node:
        return Node("not", (node,), _at(token))

    def comparison(self, left: Node, operator: Token | None = None, right: Node | None = None) -> Node:
        return left if operator is None else Node(_SAME.get(operator, str(operator)), (left, right), _at(operator))

    def sum(self, left: Node, *rest: Any) -> Node:
        return self._chain(left, rest)

    def product(self, left: Node, *rest: Any) -> Node:
        return self._chain(left, rest)

    def _chain(self, left: Node, rest: tuple[Any, ...]) -> Node:
        for operator, right in zip(rest[::2], rest[1::2], strict=True):
            left = Node(str(operator), (left, right), _at(operator))
        return left

    def number(self, token: Token) -> Node:
        return Node("number", (float(token) if any(c in token for c in ".eE") else int(token),), _at(token))

    def text(self, token: Token) -> Node:
        return Node("text", (str(token[1:-1]),), _at(token))

    def truth(self, token: Token) -> Node:
        return Node("truth", (token.lower() == "true",), _at(token))

    def signed(self, sign: Token, node: Node) -> Node:
        return Node("minus", (node,), _at(sign)) if sign == "-" else node

    def field(self, name: Token, _: Token | None = None, value: Token | None = None) -> Node:
        binding, _dot, own = name.partition(".")
        return Node("field", (binding, str(value or own)), _at(name))

    def call(self, name: Token, *args: Node) -> Node:
        if name not in (*AGGREGATES, *FUNCTIONS):
            raise PatternError(f"no function {name}", f"There are {', '.join((*AGGREGATES, *FUNCTIONS))}", _at(name))
        return Node("call", (str(name), *args), _at(name))


_PARSER = Lark(GRAMMAR, start="query", parser="lalr", maybe_placeholders=True)
