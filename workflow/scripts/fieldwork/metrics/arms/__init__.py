"""The conditions of a study compared: their measures, and tests between them."""
