"""Requests answered as batches: submitted once, found again after any crash, settled row by row."""
