"""Questions put otherwise: one module for each kind of change, and `kinds` with the table of them."""
