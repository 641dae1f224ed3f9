"""The sheet of a reviewed call: a page of A4 as HTML or PDF."""

from __future__ import annotations

from pathlib import Path

import jinja2
from markupsafe import Markup

from app.base.paper import make_pdf
from app.base.program import program_version
from app.review.drawing import draw
from app.review.review import Review, ReviewError
from app.review.text import figure_rows, verdict
from football.match_sheet import MatchSheet

SUFFIXES = (".html", ".pdf")


def write_sheet(review: Review, sheet: MatchSheet, out: Path) -> None:
    """Write the sheet as HTML or PDF, by the end of the file's name.

    Raises:
        ReviewError: another end.
        PdfError: a library that PDF needs is missing.
        OSError: the file cannot be written.
    """
    if out.suffix not in SUFFIXES:
        raise ReviewError(f"--out {out}: a file that ends in .html or .pdf")
    page = sheet_page(review, sheet)
    if out.suffix == ".html":
        out.write_text(page, encoding="utf-8")
    else:
        out.write_bytes(make_pdf(page))


def sheet_page(review: Review, sheet: MatchSheet) -> str:
    """The sheet as HTML; every text is escaped."""
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, loader=jinja2.FileSystemLoader(Path(__file__).parent)
    )
    return environment.get_template("sheet.html.j2").render(
        review=review, sheet=sheet, verdict=verdict(review), rows=list(figure_rows(review, sheet)),
        drawing=Markup(draw(review, sheet)), version=program_version(),
    )  # fmt: skip
