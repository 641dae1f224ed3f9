"""Cameras: which way a pan-tilt-zoom head looks, and the VISCA-over-IP link that steers it."""
