"""A study's config: read, checked, and looked things up in. Nothing scientific is imported here."""
