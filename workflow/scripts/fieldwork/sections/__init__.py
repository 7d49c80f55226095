"""One model a section of the config: types, defaults, bounds and sentences for users."""
