"""The page of findings: a summary in plain words, then one table a question, then the study's limits."""
