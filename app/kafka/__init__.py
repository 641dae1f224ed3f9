"""Kafka: captures into topics, topics as a source of Spark, updates out to followers."""
