"""Recorded matches, opened: their pages and their API behind one server (``touchline open``)."""
