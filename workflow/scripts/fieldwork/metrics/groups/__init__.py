"""The field's answers by group of participants, and each group beside the others."""
