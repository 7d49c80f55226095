"""Six small studies whose answers are stored: what every table, page and export of them must be."""
