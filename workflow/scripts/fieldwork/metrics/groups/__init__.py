"""The field's answers by group of participants, and differences between groups."""
