"""Radio: tags that measure, and the way of a packet to the gateway."""
