"""A module for each provider that the setting `provider` of a model may name, with its function `make`.

`providers/registry` imports them by name, so that a new one changes no other; a rule that asks names
the modules of its models.
"""
