"""Foundations of the app: logs, pace, Java, files, and messages of errors."""
