"""Routes of the analyst's room: what there is of a match, its actions, and the data of each chart for a selection.

A chart is computed by its one function (``app.analysis.registry``) and goes out as JSON, CSV or Parquet. Matches and
answers are kept for the next viewer; a further commit of a store makes them anew.
"""

from __future__ import annotations

import io
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import msgspec
from fastapi import APIRouter, HTTPException, Query, Request
from fastapi import Path as PathValue
from starlette.responses import Response

from app.api.schemas import answer, as_json, refusals
from app.api.served import ServedMatch
from replay.match_store import commits_state, read_newest_commit

if TYPE_CHECKING:
    import pandas as pd

    from app.analysis.match import AnalysedMatch, ChartData
    from app.analysis.selection import Selection

#: Matches in memory, and answers of each.
MATCHES_MAX: Final = 4
_ANSWERS_MAX: Final = 400

#: Seconds that a request waits for its turn: charts are computed one at a time.
_TURN_S: Final = 20.0

#: Share of its time for which a running match is read anew at most, so that the room does not compete with the match.
_SHARE: Final = 0.05

_CSV, _PARQUET = "text/csv; charset=utf-8", "application/vnd.apache.parquet"


class AnalysedPlayer(msgspec.Struct, frozen=True):
    """A player who took part."""

    player: str
    team: str
    shirt: int | None
    name: str


class AnalysedSpan(msgspec.Struct, frozen=True):
    """A period, with event times of its begin and its last action."""

    period: int
    begin_us: int
    end_us: int


class ChartRow(msgspec.Struct, frozen=True):
    """A chart that there is, and the parameters that change its looks.

    ``whole`` names the parts of the selection that do not narrow it, such as ``players``.
    """

    name: str
    group: str
    title: str
    options: list[str]
    whole: list[str]


class AnalysedOverview(msgspec.Struct, frozen=True):
    """A match as the analyst's room opens it. ``key`` names this state of the match; ``ended``: it is the last one."""

    key: str
    match: str
    home: str
    away: str
    length_m: float
    width_m: float
    periods: list[AnalysedSpan]
    players: list[AnalysedPlayer]
    charts: list[ChartRow]
    ended: bool


class ChartAnswer(msgspec.Struct, frozen=True):
    """Rows of a chart by column, and numbers about all of them; ``rows`` has the actions behind each row."""

    key: str
    columns: dict[str, list[Any]]
    notes: dict[str, Any]


STRUCTS: Final = (AnalysedOverview, ChartAnswer)

_OVERVIEW: Final = AnalysedOverview(
    "5f2a", "final", "Harbour United", "Northgate Rovers", 105.0, 68.0, [AnalysedSpan(1, 0, 2_700_000_000)],
    [AnalysedPlayer("home_9", "home", 9, "Jansen")], [ChartRow("shot_map", "Shots", "Shot map", [], [])], True,
)  # fmt: skip
_CHART: Final = ChartAnswer("5f2a", {"team": ["home"], "x_m": [41.5], "rows": [[812]]}, {"home": {"shots": 1}})

_Name = Annotated[str, PathValue(description="Id of the match.", max_length=200)]
_ChartName = Annotated[str, PathValue(description="Name of the chart.", max_length=40)]
_Form = Annotated[Literal["json", "csv", "parquet"], Query(alias="format", description="Form of the answer.")]


def _value(text: str) -> Any:
    return Annotated[str, Query(description=text, max_length=2_000)]


_Team = _value("`home` or `away`; without, both.")
_Player = _value("Object ids with commas.")
_Period = _value("Periods with commas, 1 to 5.")
_From = _value("Begin of a stretch of event time in seconds.")
_To = _value("End of the stretch, excluded.")
_Score = _value("`ahead`, `level` or `behind`.")
_Zone = _value("`x0,x1,y0,y1` in metres, as a team attacks to the right.")
_Step = _value("Minutes of a bin: 1, 5 or 15.")
_Grid = _value("Cells of a heat map: `8x13`, `16x25`, `32x50`, `64x100`.")
_Zones = _value("Zones of speed: `fifa` or `debs`.")
_Phase = _value("While the team has the ball (`in`) or has not (`out`).")
_Action = Annotated[int, Query(ge=0, le=1_000_000, description="Number of a pass or a shot.")]


def analyst_routes(room: AnalystRoom) -> APIRouter:
    """Create the routes below ``/matches/{match}/analyst``."""
    router = APIRouter(prefix="/matches/{match}/analyst", tags=["analyst"])

    @router.get("", responses=answer(AnalysedOverview, _OVERVIEW) | refusals(404, 503))
    def overview(match: _Name) -> Response:
        """Return what there is to analyse: teams, players, periods, charts."""
        with room.opened(match) as analysed:
            return as_json(_overview(match, analysed, ended=room.has_ended(match)))

    @router.get("/actions", responses=answer(ChartAnswer, _CHART) | refusals(404, 503))
    def actions(match: _Name) -> Response:
        """Return all actions in order of their numbers, which ``rows`` of the charts name."""
        return room.actions(match)

    @router.get("/moment", responses=answer(ChartAnswer, _CHART) | refusals(404, 503))
    def moment(match: _Name, action: _Action) -> Response:
        """Return everybody's place and velocity at the begin of a pass or a shot."""
        from app.analysis.selection import Selection
        from app.analysis.shots import freeze_frame
        from replay.match_store import positions_between

        with room.opened(match) as analysed:
            folder = room.folder(match)
            data = freeze_frame(
                analysed, Selection(action=action), lambda begin, end: positions_between(folder, begin, end)
            )
            return _json(analysed, data.table, data.notes)

    @router.get("/charts/{chart}", responses=_chart_answer() | refusals(404, 503))
    def chart(
        request: Request, match: _Name, chart: _ChartName, team: _Team = "", player: _Player = "",
        period: _Period = "", from_s: _From = "", to_s: _To = "", score: _Score = "", zone: _Zone = "",
        step: _Step = "", grid: _Grid = "", zones: _Zones = "", phase: _Phase = "", form: _Form = "json",
    ) -> Response:  # fmt: skip
        """Return the data of a chart for a selection."""
        from app.analysis.registry import CHARTS
        from app.analysis.selection import parse_selection

        if chart not in CHARTS:
            raise HTTPException(404, f"no chart {chart}; there are {', '.join(CHARTS)}")
        selection = parse_selection(request.query_params)
        return room.chart(match, chart, selection, form)

    return router


class _Analysed(msgspec.Struct, frozen=True):
    """A match in memory, as of a state of its store.

    ``again_s`` is the process clock from which a running match may be read again.
    """

    state: tuple[tuple[int, str], int]
    match: Any
    ended: bool
    again_s: float


class AnalystRoom:
    """The matches that are analysed, and the answers of each. Thread safe: one request computes at a time.

    Args:
        matches: that are served, by id; may grow.
        clock_s: of the process.
    """

    def __init__(self, matches: Mapping[str, ServedMatch], clock_s: Callable[[], float] = time.monotonic) -> None:
        self._matches, self._clock_s = matches, clock_s
        self._lock = threading.Lock()
        self._open: OrderedDict[str, _Analysed] = OrderedDict()
        self._answers: dict[str, OrderedDict[str, Response]] = {}

    def folder(self, name: str) -> Path:
        """Return the folder of a match; HTTPException 404 if there is none."""
        if name not in self._matches:
            raise HTTPException(404, f"no match {name}; there are {', '.join(self._matches) or 'none'}")
        return self._matches[name].folder

    @contextmanager
    def opened(self, name: str) -> Iterator[AnalysedMatch]:
        """Give a match to one request at a time."""
        folder = self.folder(name)
        if not self._lock.acquire(timeout=_TURN_S):
            raise HTTPException(503, "too many clients ask for charts; ask again", {"Retry-After": "1"})
        try:
            yield self._match(name, folder).match
        finally:
            self._lock.release()

    def prepare(self, name: str) -> None:
        """Read a match, and make what its page asks for first, so that the first viewer need not wait for it."""
        from app.analysis.registry import CHARTS
        from app.analysis.selection import Selection

        self.actions(name)
        first = next(iter(CHARTS.values())).group
        for chart in [chart for chart, one in CHARTS.items() if one.group == first]:
            self.chart(name, chart, Selection(), "json")

    def actions(self, name: str) -> Response:
        """Return all actions of a match."""
        with self.opened(name) as analysed:
            return self.answered(name, analysed, "actions", lambda: _json(analysed, analysed.actions, {}))

    def chart(self, name: str, chart: str, selection: Selection, form: str) -> Response:
        """Return the data of a chart."""
        from app.analysis.registry import CHARTS

        with self.opened(name) as analysed:
            return self.answered(
                name, analysed, f"{chart} {form} {selection}",
                lambda: _chart(analysed, chart, CHARTS[chart].function(analysed, selection), form),
            )  # fmt: skip

    def has_ended(self, name: str) -> bool:
        """True if an opened match was over, and all of it committed, when it was read."""
        return self._open[name].ended

    def answered(self, name: str, match: AnalysedMatch, key: str, make: Any) -> Response:
        """Return the kept answer, or make and keep it. Called while the match is opened."""
        answers = self._answers.setdefault(name, OrderedDict())
        if key not in answers:
            answers[key] = make()
            if len(answers) > _ANSWERS_MAX:
                answers.popitem(last=False)
        return answers[key]

    def _match(self, name: str, folder: Path) -> _Analysed:
        from app.analysis.match import read_analysed

        known, began_s = self._open.get(name), self._clock_s()
        if known is None or known.ended or began_s >= known.again_s:
            state = commits_state(folder), _changed_at(folder / "sheet.json")
            if known is None or known.state != state:
                newest = read_newest_commit(folder)
                match, now_s = read_analysed(folder), self._clock_s()
                ended = newest is not None and newest.meta.ended
                self._open[name] = _Analysed(state, match, ended, now_s + (now_s - began_s) / _SHARE)
                self._answers.pop(name, None)
        self._open.move_to_end(name)
        if len(self._open) > MATCHES_MAX:
            self._answers.pop(self._open.popitem(last=False)[0], None)
        return self._open[name]


def _changed_at(path: Path) -> int:
    return path.stat().st_mtime_ns if path.exists() else -1


def _overview(name: str, match: AnalysedMatch, *, ended: bool) -> AnalysedOverview:
    from app.analysis.registry import CHARTS

    seen = {*match.tables["running"].player, *match.actions.player.dropna()}
    players = sorted((one for one in match.sheet.players if one.object_id in seen), key=lambda one: one.shirt or 999)
    return AnalysedOverview(
        match.key, name, match.sheet.home, match.sheet.away, match.sheet.length_m, match.sheet.width_m,
        [AnalysedSpan(*span) for span in match.spans],
        [AnalysedPlayer(one.object_id, one.team, one.shirt, one.name) for one in players],
        [ChartRow(name, one.group, one.title, list(one.options), list(one.whole)) for name, one in CHARTS.items()],
        ended,
    )  # fmt: skip


def _chart(match: AnalysedMatch, name: str, data: ChartData, form: str) -> Response:
    if form == "json":
        return _json(match, data.table, data.notes)
    headers = {"Content-Disposition": f'attachment; filename="{name}.{form}"', "Cache-Control": "no-store"}
    table = _exported(match, data.table)
    if form == "csv":
        if "ids" in table:
            table = table.assign(ids=[" ".join(ids) for ids in table.ids])
        return Response(table.to_csv(index=False).encode(), 200, headers, _CSV)
    sink = io.BytesIO()
    table.to_parquet(sink, index=False, compression="zstd")
    return Response(sink.getvalue(), 200, headers, _PARQUET)


def _exported(match: AnalysedMatch, table: pd.DataFrame) -> pd.DataFrame:
    """The rows without numbers of actions, which mean nothing outside; the ids of their events instead."""
    named = match.actions["id"].tolist()
    found = table.drop(columns=[name for name in table if name == "rows" or name.endswith("_rows")])
    if "rows" in table and not any(isinstance(rows, dict) for rows in table["rows"]):
        found = found.assign(ids=[[named[row] for row in rows if named[row]] for rows in table["rows"]])
    return found


def _json(match: AnalysedMatch, table: pd.DataFrame, notes: Mapping[str, object]) -> Response:
    columns = {str(name): _plain(table[name]) for name in table}
    body = msgspec.json.encode(ChartAnswer(match.key, columns, dict(notes)), enc_hook=_scalar)
    return Response(body, 200, {"Cache-Control": "no-store"}, "application/json")


def _plain(column: pd.Series) -> list[Any]:
    """The values of a column; null for those that are missing, and numbers with as many digits as a chart needs."""
    if column.dtype.kind == "f":
        column = column.astype(float).round(4)
    values = column.astype(object)
    return values.where(column.notna(), None).tolist()


def _scalar(value: object) -> object:
    """A number of NumPy as one of Python."""
    return value.item()  # type: ignore[attr-defined]


def _chart_answer() -> dict[int | str, dict[str, Any]]:
    described = answer(ChartAnswer, _CHART)
    described[200]["content"] |= {kind: {"schema": {"type": "string", "format": "binary"}} for kind in
                                  (_CSV.partition(";")[0], _PARQUET)}  # fmt: skip
    return described
