"""Weights that bring simulated answers to the field's, and whether they do beyond chance."""
