"""Ordering: the unit before each detector, its buffer, release policies, speculation and retraction."""
