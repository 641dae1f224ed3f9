"""The match report: what a club's analyst hands out, as one page of HTML or as PDF."""
