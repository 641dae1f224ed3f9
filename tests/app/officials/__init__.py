"""Tests of entered decisions."""
