"""Conditions beside the field: whether they rank as it does, and item by item."""
