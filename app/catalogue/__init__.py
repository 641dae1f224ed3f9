"""``touchline detectors``: the catalogue of detectors, listed and drawn."""
