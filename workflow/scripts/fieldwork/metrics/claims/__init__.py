"""Every test of a study in one table, corrected over the study: what the page of findings may claim."""
