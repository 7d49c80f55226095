"""Judgements of people and models: read from files, with people's ids as keyed hashes."""
