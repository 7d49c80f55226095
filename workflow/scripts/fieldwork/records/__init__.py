"""Every row that passes between two stages, one frozen dataclass a table, by stage."""
