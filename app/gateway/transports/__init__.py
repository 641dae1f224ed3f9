"""Transports: how a feed's messages reach the gateway."""
