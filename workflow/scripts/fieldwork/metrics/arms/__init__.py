"""Conditions side by side: their measures, and tests between them."""
