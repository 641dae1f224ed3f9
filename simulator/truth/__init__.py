"""Truth: every event that a simulated match contains."""
