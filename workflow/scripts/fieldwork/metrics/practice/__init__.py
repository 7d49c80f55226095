"""Whether the offline score of models predicts how they do in practice."""
