"""What of a damaged ledger can be had back."""
