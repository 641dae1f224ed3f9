"""Radio: measurement by tags, and the path of packets to the gateway."""
