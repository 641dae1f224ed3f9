"""Why an event is what it is."""
