"""Many matches in one live query: matches are keys, each with its own engine, store and feed."""
