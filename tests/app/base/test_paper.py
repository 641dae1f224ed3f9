"""Printed pages: a PDF that is made of the page alone, and drawings with a title that a screen reader says."""

from __future__ import annotations

import socket

import pytest
from matplotlib.figure import Figure

from app.base.paper import PdfError, make_pdf, svg_element


def test_a_page_becomes_a_pdf_and_nothing_is_fetched_for_it():
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.0)
        address = f"http://127.0.0.1:{server.getsockname()[1]}/picture.png"
        try:
            pdf = make_pdf(f'<p>Passes</p><img src="{address}">')
        except PdfError as error:
            pytest.skip(str(error))
        assert pdf.startswith(b"%PDF-")
        with pytest.raises(BlockingIOError):
            server.accept()


def test_a_drawing_has_its_title_and_no_date():
    svg = svg_element(Figure(), "Passes <of> home")
    assert svg.startswith("<svg")
    assert "<title>Passes &lt;of&gt; home</title>" in svg
    assert svg == svg_element(Figure(), "Passes <of> home")
