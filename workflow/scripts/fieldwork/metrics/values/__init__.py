"""Scales and numbers: means, spread, and how far a condition moves them."""
