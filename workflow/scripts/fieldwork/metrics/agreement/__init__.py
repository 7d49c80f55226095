"""Conditions compared with the field: whether they rank items as it does, and item by item."""
