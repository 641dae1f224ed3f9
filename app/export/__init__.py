"""A match store in the formats of others: event data, tracking data, video timelines, tables."""
