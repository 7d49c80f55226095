"""What raters say of units, how far they agree, and whether a model may judge in place of people."""
