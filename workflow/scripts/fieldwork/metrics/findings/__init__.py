"""The page of findings: a module a part, and how a number is said."""
