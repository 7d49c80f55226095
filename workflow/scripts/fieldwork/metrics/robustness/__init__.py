"""What changes when a task is put otherwise: scores, answers, and differences between groups."""
