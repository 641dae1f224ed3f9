"""The rooms of a server (matches, replay, analyst, accuracy, report), over finished matches and over a run's own."""
