"""What each detector compared, and how clearly: the margins behind an event."""
