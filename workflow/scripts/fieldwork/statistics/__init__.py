"""Statistics that more than one part of the library uses: each rule has one home here."""
