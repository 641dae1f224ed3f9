"""The match report as a page of matches that are served: ``/report?match=NAME``."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response

from app.analysis.figures import ReportError, read_report
from app.api.served import ServedMatch

#: The page has its own styles and drawings, and loads nothing.
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'",
}


def report_route(matches: Mapping[str, ServedMatch]) -> Callable[[Request], Response]:
    """Return what answers with the report of a match; Starlette calls it in a thread."""

    def report(request: Request) -> Response:
        from app.report.page import report_page  # imports matplotlib

        name = request.query_params.get("match", "")
        if name not in matches:
            return PlainTextResponse(f"There is no such match; there are {', '.join(matches)}.\n", 404)
        try:
            return HTMLResponse(report_page(read_report(matches[name].folder)), headers=_HEADERS)
        except ReportError as error:
            return PlainTextResponse(f"{error}\n", 404)

    return report
