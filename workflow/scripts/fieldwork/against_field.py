"""Rows of the tables that hold simulated users, and groups of real ones, against the field.

Owns their columns and nothing else: a table of these is declared, checked and described as any other.
"""
