"""The layout of the page. The scripts in ``assets/`` fill in what changes, from the messages of ``/live/stream``."""

from __future__ import annotations

import json
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
from dashboard.pitch import extent_m, lines_of, spots
from football.match_sheet import MatchSheet
from football.pitch import pitch_of

ASSETS: Final = Path(__file__).parent / "assets"
STATES: Final = ("tentative", "confirmed", "withdrawn")

# The theme is set, and the background stands in the document itself, before anything is painted.
_DOCUMENT: Final = """<!DOCTYPE html>
<html lang="en">
<head>{%metas%}<title>{%title%}</title>{%favicon%}{%css%}
<style>body{background:#0c1116}:root[data-theme="light"] body{background:#f3f5f7}</style>
<script src="/pages/shared/theme.js"></script><link rel="stylesheet" href="/pages/shared/reason.css"></head>
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


def build_app(feed: Feed, links: Links = tuple, rooms: Links = tuple) -> Dash:
    """Build the Dash application over ``feed``. It serves every script and style itself.

    Args:
        feed: of the match.
        links: returns the pages of all matches of the run.
        rooms: returns the other pages of the match.

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
    app.layout = lambda: _layout(feed.sheet(), tuple(links()), (*rooms(), *_cameras(feed)))
    app.clientside_callback(ClientsideFunction("touchline", "mount"), Output("mounted", "data"), Input("events", "id"))
    return app


def _protect(app: Dash) -> None:
    """Let the browser run the page's own scripts only, and keep what a client has sent out of the log.

    Dash and the page set style attributes, so styles need ``unsafe-inline``.
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


def _cameras(feed: Feed) -> list[tuple[str, str]]:
    return [("Cameras", "/cameras")] if feed.cameras() else []


def _layout(sheet: MatchSheet, links: Collection[tuple[str, str]], rooms: Collection[tuple[str, str]]) -> Component:
    return html.Div(
        [
            _header(sheet, links, rooms),
            html.Main([_pitch(sheet), _events()], className="stage"),
            html.Canvas(
                id="lanes", role="img", **{"aria-label": "Timeline by level, the last minute; the list has its events"}
            ),
            html.Section(
                [html.Div(id="strip-tables"), html.P(id="watermark")],
                id="strip",
                className="strip",
                hidden=True,
                **{"aria-label": "Engine"},
            ),
            _officials(),
            dcc.Store(id="mounted"),
        ],
        id="page",
    )


def _chooser(links: Collection[tuple[str, str]], mine: str) -> list[Component]:
    """Links to the pages of all matches, where there are several."""
    if len(links) < 2:
        return []
    named = [html.A(name, href=url, className="here" if name == mine else "") for name, url in links]
    return [html.Nav(named, id="matches", className="matches", **{"aria-label": "Matches"})]


def _rooms(rooms: Collection[tuple[str, str]]) -> list[Component]:
    """Links to the other pages of the match, if there are any."""
    named = [html.A(name, href=url) for name, url in rooms]
    return [html.Nav(named, className="rooms", **{"aria-label": "Pages"})] if named else []


def _header(sheet: MatchSheet, links: Collection[tuple[str, str]], rooms: Collection[tuple[str, str]]) -> Component:
    return html.Header(
        [
            html.Div(
                [html.Div("Touchline", className="brand"), *_chooser(links, sheet.match_id), *_rooms(rooms)],
                className="left",
            ),
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
                    html.Span("", id="minute", className="chip", title="Minute of the match, and added time"),
                    html.Span("", id="play", className="chip"),
                    html.Span("", id="possession", className="chip"),
                ],
                className="now",
            ),
            html.Div(
                [
                    _toggle("layers", "Layers", "What the pitch shows (K)"),
                    _toggle("alerts", "Alerts", "Patterns of the match, and what they have found (Z)"),
                    _toggle("officials", "Officials", "Decisions of the officials (O)"),
                    _toggle("strip", "Engine", "Figures of the engine (M)"),
                    html.Button("?", id="help", title="Keys (?)", **{"aria-label": "Keys"}),
                    html.Span("Connecting", id="status", role="status"),
                ],
                className="state",
            ),
        ],
        className="bar",
    )


def _toggle(panel: str, label: str, title: str) -> Component:
    """A button that opens and closes a panel."""
    return html.Button(label, id=f"{panel}-toggle", title=title, **{"aria-expanded": "false", "aria-controls": panel})


def _officials() -> Component:
    """The panel of an operator, in the place of the health strip: decisions by keys, and what was entered."""
    return html.Section(
        [
            html.Div(
                [
                    html.H2("Officials"),
                    html.Div(id="officials-access"),
                    html.P("", id="officials-answer", role="status"),
                ],
                className="officials-head",
            ),
            html.Div(id="officials-keys", className="officials-keys", role="group", **{"aria-label": "Decisions"}),
            html.Div(id="officials-ask", className="officials-ask", **{"aria-live": "polite"}),
            html.Ol(id="officials-entered", className="officials-entered", **{"aria-label": "Entered decisions"}),
        ],
        id="officials",
        className="officials",
        hidden=True,
        **{"aria-label": "Officials"},
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
                    html.Canvas(
                        id="pitch",
                        **{"data-lines": json.dumps(lines_of(pitch)), "data-spots": json.dumps(spots(pitch))},
                    ),
                    html.Canvas(
                        id="overlay",
                        role="img",
                        **{
                            "data-half-x": str(half_x),
                            "data-half-y": str(half_y),
                            "aria-label": "Pitch with players and ball",
                        },
                    ),
                    html.Div(id="tip", className="tip", hidden=True),
                    html.Div(id="banner", className="banner", hidden=True, role="status"),
                    html.Div(id="moment", className="moment", hidden=True),
                    html.Section(id="layers", className="popover", hidden=True, **{"aria-label": "Layers"}),
                    html.Section(id="alerts", className="popover", hidden=True, **{"aria-label": "Alerts"}),
                ],
                className="pitch-box",
                style={"--ratio": f"{half_x / half_y:.5f}"},
            ),
            html.Div(
                [
                    _legend(),
                    html.Canvas(id="race", role="img", **{"aria-label": "Momentum, expected goals, chance to win"}),
                ],
                className="below",
            ),
            html.P("", id="alert-line", className="alert-line", role="status"),
        ],
        className="pitch-side",
        **{"aria-label": "Pitch"},
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
            html.Div(
                [
                    html.H2("Events"),
                    html.Div(id="find"),
                    html.Button(
                        "Timeline",
                        id="lanes-toggle",
                        title="The last minute by level, beneath the pitch (H)",
                        **{"aria-expanded": "true", "aria-controls": "lanes"},
                    ),
                    html.Button(
                        "Everything",
                        id="everything",
                        title="Also events that may be withdrawn soon, and withdrawn ones for good (C)",
                        **{"aria-pressed": "false"},
                    ),
                ],
                className="events-head",
            ),
            html.Div(id="followed", className="followed", hidden=True, role="status"),
            _filters("families", "Families of events", [(one.name, one.label, one.shown) for one in FAMILIES]),
            _filters("states", "States of events", [(state, state.capitalize(), True) for state in STATES]),
            html.Ol(id="events", className="list", tabIndex="0", **{"aria-label": "Events, newest first"}),
            html.Section(
                id="reason",
                className="reason",
                hidden=True,
                tabIndex="0",
                **{"aria-label": "Explanation", "aria-live": "polite"},
            ),
            html.Datalist(id="kinds"),
        ],
        className="events-side",
        **{"aria-label": "Events"},
    )


def _filters(name: str, label: str, options: list[tuple[str, str, bool]]) -> Component:
    """A group of check boxes, which the script makes: (value, label, checked) each."""
    return html.Div(
        id=name,
        className=f"filters {name}",
        role="group",
        **{"aria-label": label, "data-options": json.dumps(options)},
    )
