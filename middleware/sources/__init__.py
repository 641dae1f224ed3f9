"""Sources of events: their transmitters, cadence and progress."""
