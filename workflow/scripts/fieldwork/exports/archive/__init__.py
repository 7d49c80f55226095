"""A study as one archive: its files gathered, described, checked and packed."""
