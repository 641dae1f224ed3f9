"""What was found held against what is true: truth readers, matching, figures."""
