"""The layout of the page. The scripts in ``assets/`` fill in what changes, from the messages of ``/live/stream``."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Final

from dash import ClientsideFunction, Dash, Input, Output, dcc, html
from dash.development.base_component import Component
from dash.exceptions import DependencyException
from flask import Response

from dashboard.families import FAMILIES
from dashboard.feed import Feed
from dashboard.pitch import extent_m, pitch_figure
from football.match_sheet import MatchSheet
from football.pitch import pitch_of

ASSETS: Final = Path(__file__).parent / "assets"
STATES: Final = ("tentative", "confirmed", "withdrawn")

# The background is in the document itself, so that no white page flashes before the style sheet is loaded.
_DOCUMENT: Final = """<!DOCTYPE html>
<html lang="en">
<head>{%metas%}<title>{%title%}</title>{%favicon%}{%css%}<style>body{background:#0c1116}</style></head>
<body>{%app_entry%}<footer hidden>{%config%}{%scripts%}{%renderer%}</footer></body>
</html>"""


class _Document(Dash):
    """A Dash application that fills in all parts of the document at once.

    Dash does it one after the other, and would fill in a mark that an earlier part holds, as a team's name may.
    """

    def interpolate_index(self, **parts: str) -> str:
        return re.sub(r"{%(\w+)%}", lambda mark: parts.get(mark[1], ""), _DOCUMENT)


#: Function that returns the pages of all matches of a run, as (name, address); called at each load of a page.
Links = Callable[[], Collection[tuple[str, str]]]


def build_app(feed: Feed, links: Links = tuple) -> Dash:
    """Build the Dash application over ``feed``. It serves every script and style itself.

    Args:
        feed: of the match.
        links: returns the pages of all matches of the run.

    Raises:
        football.pitch.PitchError: the match sheet has a pitch that Law 1 does not allow.
    """
    sheet = feed.sheet()
    pitch_of(sheet)  # raises for a bad sheet now, and not when the first page is opened
    app = _Document(
        __name__,
        assets_folder=str(ASSETS),
        title="Touchline",  # the script adds the teams: what a sheet holds is never part of the document
        update_title="",
        serve_locally=True,
        index_string=_DOCUMENT,
    )
    _protect(app)
    # A function: each load of the page takes the newest sheet.
    app.layout = lambda: _layout(feed.sheet(), tuple(links()), bool(feed.cameras()))
    app.clientside_callback(
        ClientsideFunction("touchline", "filter"),
        Output("filtered", "data"),
        Input("families", "value"),
        Input("states", "value"),
    )
    return app


def _protect(app: Dash) -> None:
    """Let the browser run the page's own scripts only, and keep what a client has sent out of the log.

    Plotly sets style attributes, so styles need ``unsafe-inline``.
    """
    scripts = " ".join(app.csp_hashes())
    policy = (
        f"default-src 'none'; script-src 'self' {scripts}; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
        "font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )

    @app.server.after_request
    def _with_policy(response: Response) -> Response:
        if response.mimetype == "text/html":
            response.headers["Content-Security-Policy"] = policy
        return response

    @app.server.errorhandler(DependencyException)
    def _no_such_script(error: DependencyException) -> tuple[str, int]:
        return "There is no such file.\n", 404


def _layout(sheet: MatchSheet, links: Collection[tuple[str, str]], has_cameras: bool) -> Component:
    return html.Div(
        [
            _header(sheet, links, has_cameras),
            html.Main([_pitch(sheet), _events()], className="stage"),
            html.Section(id="strip", className="strip", **{"aria-label": "Health"}),
            dcc.Store(id="filtered"),
        ],
        id="page",
    )


def _chooser(links: Collection[tuple[str, str]], mine: str) -> list[Component]:
    """Links to the pages of all matches, where there are several."""
    if len(links) < 2:
        return []
    named = [html.A(name, href=url, className="here" if name == mine else "") for name, url in links]
    return [html.Nav(named, id="matches", className="matches", **{"aria-label": "Matches"})]


def _header(sheet: MatchSheet, links: Collection[tuple[str, str]], has_cameras: bool) -> Component:
    return html.Header(
        [
            html.Div("Touchline", className="brand"),
            *_chooser(links, sheet.match_id),
            *([html.A("Cameras", href="/cameras", className="cameras")] if has_cameras else []),
            html.Div(
                [
                    html.Span(sheet.home, className="team home", id="home-name"),
                    _goals("home"),
                    html.Span("–", className="dash"),
                    _goals("away"),
                    html.Span(sheet.away, className="team away", id="away-name"),
                ],
                className="scoreline",
            ),
            html.Div(
                [
                    html.Span("–:––", id="clock", className="clock", title="Event time of the positions"),
                    html.Span("", id="play", className="chip"),
                    html.Span("", id="possession", className="chip"),
                ],
                className="now",
            ),
            html.Div(
                [html.Span("", id="rate", className="rate"), html.Span("Connecting", id="status")],
                className="state",
            ),
        ],
        className="bar",
    )


def _goals(team: str) -> Component:
    """A team's goals, and beneath them how many are tentative."""
    return html.Span([html.Span("0", id=f"{team}-goals"), html.Small("", id=f"{team}-provisional")], className="goals")


def _pitch(sheet: MatchSheet) -> Component:
    pitch = pitch_of(sheet)
    half_x, half_y = extent_m(pitch)
    return html.Section(
        [
            html.Div(
                [
                    dcc.Graph(
                        id="pitch",
                        figure=pitch_figure(pitch),
                        config={"staticPlot": True, "displayModeBar": False, "responsive": True},
                        responsive=True,
                    ),
                    html.Canvas(id="overlay", **{"data-half-x": str(half_x), "data-half-y": str(half_y)}),
                    html.Div(id="tip", className="tip", hidden=True),
                    html.Div(id="banner", className="banner", hidden=True, role="status"),
                ],
                className="pitch-box",
                style={"--ratio": f"{half_x / half_y:.5f}"},
            ),
            _legend(),
        ],
        className="pitch-side",
    )


def _legend() -> Component:
    """The key of the pitch: the same words as in the list."""
    keys = (
        ("line tentative", "tentative: may still change"),
        ("line confirmed", "confirmed: final"),
        ("line withdrawn", "withdrawn"),
        ("camera achieved", "camera sees"),
        ("camera planned", "camera planned"),
        ("trail", "ball, last 3 s"),
    )
    return html.Div([html.Span([html.I(className=f"key {look}"), text]) for look, text in keys], className="legend")


def _events() -> Component:
    return html.Aside(
        [
            html.Div([html.H2("Events"), html.Span("", id="counts", className="counts")], className="events-head"),
            dcc.Checklist(
                id="families",
                className="filters",
                options=[{"label": family.label, "value": family.name} for family in FAMILIES],
                value=[family.name for family in FAMILIES if family.shown],
            ),
            dcc.Checklist(
                id="states",
                className="filters states",
                options=[{"label": state.capitalize(), "value": state} for state in STATES],
                value=list(STATES),
            ),
            html.Ol(id="events", className="list"),
        ],
        className="events-side",
    )
