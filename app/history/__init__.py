"""Questions to many match stores at once, through DuckDB and Spark SQL."""
