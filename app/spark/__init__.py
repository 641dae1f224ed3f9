"""The Spark host: session, source, engine stage, and the Java they run on."""
