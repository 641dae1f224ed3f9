"""``touchline order``: slack policies held against data sets."""
