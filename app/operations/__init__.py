"""Monitoring of a run: health, metrics, and the logs of both."""
