"""The figures of a match: those of the report, and from a selection the data of each chart of the analyst's room."""
