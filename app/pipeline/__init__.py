"""One match: its folder, its pipeline, its states at offsets, its pace, with or without Spark."""
