"""The gateway: live feeds of locating systems, from a vendor's bytes to blocks of packets."""
