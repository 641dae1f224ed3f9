"""Printed pages and drawings: style, colours, drawings as SVG, a page as PDF."""

from __future__ import annotations

import io
import re
from html import escape
from typing import TYPE_CHECKING, Final

from football.errors import UserError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Colours of the teams, told apart by people who do not see red and green, and in grey print by their darkness.
COLOURS: Final = {"home": "#c2410c", "away": "#1d4ed8"}

INK, LINE = "#1f2933", "#9aa5b1"

#: Settings of matplotlib: texts are outlines, and none is read as mathematics.
STYLE: Final = {
    "svg.hashsalt": "touchline", "svg.fonttype": "path", "text.parse_math": False, "text.color": INK,
    "axes.edgecolor": LINE, "axes.labelcolor": INK, "xtick.color": INK, "ytick.color": INK, "font.size": 9,
    "axes.spines.top": False, "axes.spines.right": False,
}  # fmt: skip


class PdfError(UserError):
    """A page cannot be made a PDF; the message has the reason."""


def svg_element(figure: Figure, title: str) -> str:
    """A figure as an SVG element of a page; its title is what a screen reader says."""
    out = io.StringIO()
    figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None}, transparent=True)
    content = out.getvalue()
    content = content[content.index("<svg") :]
    return re.sub(r"<metadata>.*?</metadata>", f"<title>{escape(title)}</title>", content, count=1, flags=re.S)


def make_pdf(page: str) -> bytes:
    """A page as PDF; nothing in it is fetched from network or files.

    Raises:
        PdfError: a library of the system that WeasyPrint needs is missing.
    """
    try:
        import weasyprint
    except OSError as error:
        raise PdfError(f"PDF needs the library Pango, which is not installed ({error}); take .html") from error

    nothing = weasyprint.urls.URLFetcher(allowed_protocols=())
    document: bytes = weasyprint.HTML(string=page, url_fetcher=nothing).write_pdf()
    return document
