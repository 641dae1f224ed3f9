"""``touchline detectors``: the catalogue as a list, JSON, a graph, one of three pages or a settings file."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from app.base.files import OutputError, writing
from app.base.program import with_version
from app.catalogue.graph import dot, svg
from app.catalogue.hierarchy import hierarchy
from app.catalogue.thresholds import groups_of, thresholds
from app.cli.options import Given
from app.settings.parameters import as_toml, load_parameters
from detectors.catalogue import (
    PASSING_ON,
    Count,
    DetectorInfo,
    EventTypes,
    catalogue,
    count,
    count_by_level,
    life_cycle,
)
from detectors.parameters import Parameters, all_parameters

app = typer.Typer(add_completion=False)

#: Forms of the catalogue other than the list.
FORMS = ("json", "graph", "markdown", "thresholds", "hierarchy", "toml")


@app.command()
def detectors(
    as_json: Annotated[bool, Given("--json", help="An array with an object for each detector.")] = False,
    graph: Annotated[
        bool, Given("--graph", help="The inputs of every detector: Graphviz text, or a picture with --out x.svg.")
    ] = False,
    as_markdown: Annotated[bool, Given("--markdown", help="The page docs/detectors.md.")] = False,
    as_thresholds: Annotated[bool, Given("--thresholds", help="The page docs/thresholds.md.")] = False,
    as_hierarchy: Annotated[bool, Given("--hierarchy", help="The page docs/hierarchy.md.")] = False,
    toml: Annotated[bool, Given("--toml", help="A whole settings file with all parameters.")] = False,
    parameters: Annotated[Path | None, Given(help="Settings file (TOML) to check, and to show the values of.")] = None,
    out: Annotated[Path | None, Given(help="File to write; default stdout.")] = None,
) -> None:
    """Lists the detectors with what each one finds, and counts them; other forms have inputs, parameters and sources.

    Examples:
        touchline detectors
        touchline detectors --toml --out mine.toml
        touchline detectors --graph --out detectors.svg
    """
    switches = (as_json, graph, as_markdown, as_thresholds, as_hierarchy, toml)
    forms = [form for form, is_on in zip(FORMS, switches, strict=True) if is_on]
    if len(forms) > 1:
        raise OutputError(f"--{' and --'.join(forms)}: one at a time")
    run_detectors("".join(forms), parameters, out)


def run_detectors(form: str, parameters_file: Path | None, out: Path | None) -> None:
    """Write the catalogue.

    Args:
        form: one of ``FORMS``, or empty for the list. A graph whose file ends in ``.svg`` is a picture.
        parameters_file: settings whose values are shown instead of the defaults.
        out: file to write; None for stdout.

    Raises:
        ParametersError: the settings file cannot be used.
        OutputError: the file cannot be written.
    """
    chosen = load_parameters(parameters_file) if parameters_file else Parameters()
    text = render(form, chosen, picture=out is not None and out.suffix == ".svg")
    if out is None:
        sys.stdout.write(text)
        return
    with writing(out):
        out.write_text(text, encoding="utf-8")


def render(form: str, parameters: Parameters, *, picture: bool = False) -> str:
    """The catalogue in one of its forms."""
    entries = catalogue(parameters)
    if form == "json":
        plain = [_plain(entry) for entry in (*entries, life_cycle(entries))]
        return msgspec.json.format(msgspec.json.encode(plain), indent=1).decode() + "\n"
    if form == "graph":
        return svg(entries) if picture else dot(entries)
    if form == "markdown":
        return markdown(entries)
    if form == "thresholds":
        return thresholds(entries, parameters)
    if form == "hierarchy":
        return hierarchy(entries)
    return as_toml(parameters) if form == "toml" else listing(entries)


def listing(entries: Sequence[DetectorInfo]) -> str:
    """One line per detector with what it finds, and the counts."""
    width = max(len(entry.kind) for entry in entries)
    lines = [f"{e.number:>6}  {e.kind.ljust(width)}  {_finds(e)}{_OPT_IN if e.opt_in else ''}" for e in entries]
    parts = ["\n".join(lines), *_changed(entries), _levels(entries), sentence(count(entries))]
    return "\n\n".join(parts) + "\n"


def _levels(entries: Sequence[DetectorInfo]) -> str:
    """A line for each level with its detectors and event types, and their sums."""
    sizes = count_by_level(entries)
    lines = [f"{size.level:>5} {size.detectors:>10} {size.event_types:>12}" for size in sizes]
    total = f"{'all':>5} {sum(s.detectors for s in sizes):>10} {sum(s.event_types for s in sizes):>12}"
    left_out = ", ".join(sorted(PASSING_ON))
    return "\n".join(
        [
            f"{'level':>5} {'detectors':>10} {'event types':>12}",
            *lines,
            total,
            f"Without {left_out}: they conclude nothing.",
        ]
    )


def _finds(entry: DetectorInfo) -> str:
    """The summary of a detector, as a line that names its kinds; those that it lacks follow in brackets."""
    text = _inline(entry.summary).replace("`", "")
    published = [kind for kind in entry.outputs if kind not in _internal(entry)]
    if not published:
        return f"{text} (internal)"
    named = any(kind.partition(".")[0] in text for kind in published)
    return text if named else f"{text} ({', '.join(published)})"


_OPT_IN = "  (only when asked for: live --detectors)"


def _changed(entries: Sequence[DetectorInfo]) -> list[str]:
    """The numbers that are not the defaults; empty if all are."""
    usual = {p.path: p.value for p in all_parameters()}
    chosen = {p.path: p for entry in entries for p in entry.parameters}
    lines = [
        f"  {p.path} = {p.value} {p.unit.text} (default {usual[p.path]})"
        for p in chosen.values()
        if p.value != usual[p.path]
    ]
    return ["\n".join(["Other than by default:", *lines])] if lines else []


def sentence(size: Count) -> str:
    """The counts with their units."""
    return (
        f"{size.detectors} detectors, which cover {size.hierarchy_rows} rows of the hierarchy. "
        f"They publish {size.event_types} event types (kind x variant x team) of {size.event_kinds} kinds; "
        f"{size.internal_kinds} further kinds ({size.internal_types} types) are internal: only detectors read them. "
        "The life cycle (15.8) follows all published events and is not counted."
    )


def markdown(entries: Sequence[DetectorInfo]) -> str:
    """The docs page."""
    levels = sorted({entry.level for entry in entries})
    parts = [_PREFACE.format(sizes=sentence(count(entries))), "| level | detectors |", "|---|---|"]
    parts += [f"| {level} | {', '.join(_link(e) for e in entries if e.level == level)} |" for level in levels]
    parts.append("")
    readers: dict[str, list[str]] = {}
    for entry in entries:
        for kind in entry.inputs:
            readers.setdefault(kind, []).append(entry.kind)
    overruling: dict[str, list[str]] = {}
    for entry in entries:
        for kind in entry.annuls:
            overruling.setdefault(kind, []).append(entry.kind)
    parts += [_level([e for e in entries if e.level == level], readers, overruling) for level in levels]
    parts.append(_LIFE_CYCLE.format(source=life_cycle(entries).source))
    return with_version("\n".join(parts))


_PREFACE = """# Detectors

Made by `touchline detectors --markdown --out docs/detectors.md` from `detectors/catalogue.py`; do not edit. The
picture: `touchline detectors --graph --out docs/images/detectors.svg`.

{sizes}

To find a kind, search this page for it, such as `restart.corner`. Every published event has these columns, where they
apply; a section says what they mean for its kinds, and its table which names `detail` may have. A name ends in its
unit. The class of a detector is in the file that *code* names.

| column | holds |
|---|---|
| `kind`, `variant` | what happened, and which sort of it |
| `ts_us` | event time: microseconds from the zero of the source |
| `team`, `player` | `home` or `away`; the object id of the player |
| `x_m`, `y_m`, `z_m` | metres from the centre spot; x to the right, y up on a plan of the pitch |
| `confidence` | 0 to 1 |
| `causes` | ids of the events that it follows from |

`confidence` is the chance that the event stands and is right, counted in ragged simulated matches by kind, input and
circumstances in `detectors/confidence.toml`
([037](decisions/037-published-confidence-is-counted-in-simulated-matches.md)). Of a kind that was too rare there, and
of an official's decision, it is the number that the rule sets.

| in a section | meaning |
|---|---|
| also 7.7 | the detector does the work of this row of the [hierarchy](hierarchy.md), too |
| first known | when the event is emitted with its whole payload, after the time that it is shown with [1] |
| changes later | what a newer version under the same id may change, and when; which detectors may withdraw it [2] |
| inputs | on radio with limb tags; on camera tracking some read `frame` instead of runs of limbs or `ball.state` |
| horizon | how far before its newest cause a detector may date an event |
| needs | what the input must have; without it a match lacks the detector, unless the text says more |
| annuls | kinds of which it may declare an event void |
| parameters | groups of [thresholds.md](thresholds.md); a settings file changes their values |

[1] In event time. Late packets and, without speculation, the slack come on top. [2] Besides, a repair after a late
packet may change or withdraw any event until it is confirmed; what a table says of *changes later* has no such limit.

A detector reads lower levels, and of its own level what others share inside the engine: 2.1 shares the breaks of the
ball's path, 5.1 and 5.2 each contact with the players near it, 5.10 the phases of play, 7.8 which gains are
interceptions.

![Who feeds whom](images/detectors.svg)
"""

_LIFE_CYCLE = """## Level 15

### 15.8 life_cycle

It is no detector of the engine. From the log of all updates and the watermark it derives the state of each event:
tentative, confirmed or withdrawn, and how often it was amended. In the end every event is confirmed or withdrawn
(`football/lifecycle.py`).

* source: {source}
"""


def _level(
    entries: Sequence[DetectorInfo], readers: Mapping[str, Sequence[str]], overruling: Mapping[str, Sequence[str]]
) -> str:
    sections = (_section(entry, readers, overruling) for entry in entries)
    return "\n".join([f"## Level {entries[0].level}\n", *sections])


def _section(entry: DetectorInfo, readers: Mapping[str, Sequence[str]], overruling: Mapping[str, Sequence[str]]) -> str:
    listed = [
        f"* inputs: {_kinds(entry.inputs)}",
        f"* outputs: {'; '.join(map(_type_text, entry.types))}",
        *(f"* `{kind}` is read by {', '.join(readers[kind])}" for kind in entry.outputs if kind in readers),
        f"* horizon: {entry.horizon_us / 1000:g} ms",
        *([f"* needs: {entry.needs}"] if entry.needs else []),
        *([f"* annuls: {_kinds(entry.annuls)}"] if entry.annuls else []),
        *(["* only when asked for"] if entry.opt_in else []),
        *(["* a state for each transmitter or player"] if entry.keyed else []),
        *(
            [f"* parameters: {', '.join(f'[`{g}`](thresholds.md#{g})' for g in groups_of(entry))}"]
            if entry.parameters
            else []
        ),
        f"* source: {entry.source}",
        f"* code: `{entry.module.replace('.', '/')}.py`",
    ]
    summary = entry.summary[:1].upper() + entry.summary[1:]
    parts = (summary, *entry.description.split("\n\n"))
    text = [_inline(part) for part in parts if part and not part.lstrip().startswith(("Args:", "Attributes:"))]
    return "\n".join([f"### {_heading(entry)}\n", "\n\n".join(text), "", *_payloads(entry, overruling), *listed, ""])


def _heading(entry: DetectorInfo) -> str:
    covers = f", also {', '.join(entry.covers)}" if entry.covers else ""
    return f"{entry.number} {entry.kind}{covers}"


def _link(entry: DetectorInfo) -> str:
    """A link to the section of a detector, by the anchor that GitHub makes from its heading."""
    anchor = re.sub(r"[^\w\- ]", "", _heading(entry).lower()).replace(" ", "-")
    return f"[{entry.number} {entry.kind}](#{anchor})"


def _payloads(entry: DetectorInfo, overruling: Mapping[str, Sequence[str]]) -> list[str]:
    """A table of what the events carry and when it is known; kinds that do not differ share a row."""
    rows: dict[str, list[str]] = {}
    for payload in entry.payloads:
        again = [f"{payload.again}: {_kinds(payload.changes)}"] if payload.again else []
        withdrawn = [f"withdrawn by {', '.join(overruling[payload.kind])}"] if payload.kind in overruling else []
        later = "; ".join((*again, *withdrawn)) or "never"
        cells = f"{_kinds(payload.detail) or 'empty'} | {payload.first} | {later}"
        rows.setdefault(cells, []).append(payload.kind)
    table = [f"| {_kinds(kinds)} | {cells} |" for cells, kinds in rows.items()]
    return ["| event | `detail` | first known | changes later |", "|---|---|---|---|", *table, ""] if table else []


def _inline(text: str) -> str:
    """A paragraph of a docstring as Markdown; roles of Sphinx become plain names."""
    named = re.sub(r":\w+:`~?(?:[\w.]+\.)?(\w+)`", r"`\1`", text.replace("``", "`"))
    return named if named.startswith("|") else " ".join(named.split())


def _type_text(types: EventTypes) -> str:
    """A kind with its variants, shortened where they are many."""
    variants = list(dict.fromkeys((*types.variants, *types.team_variants)))
    shown = ", ".join(variants[:5]) + (f" ... {len(variants)} in all" if len(variants) > 5 else "")
    names = f" ({shown})" if any(variants) else ""
    return f"`{types.kind}`{names}, " + (
        "internal" if types.internal else f"{types.count} type{'s' * (types.count != 1)}"
    )


def _internal(entry: DetectorInfo) -> set[str]:
    return {types.kind for types in entry.types if types.internal}


def _kinds(kinds: Sequence[str]) -> str:
    return ", ".join(f"`{kind}`" for kind in kinds)


def _plain(entry: DetectorInfo) -> dict[str, object]:
    """An entry for JSON: parameters and types as objects."""
    plain = dict(msgspec.to_builtins(entry))
    plain["internal"] = sorted(_internal(entry))
    plain["types"] = {t.kind: {k: v for k, v in msgspec.to_builtins(t).items() if k != "kind"} for t in entry.types}
    plain["parameters"] = [
        {"name": p.path, "value": p.value, "unit": p.unit.text, "least": p.unit.least, "most": p.unit.most}
        for p in entry.parameters
    ]
    return plain
