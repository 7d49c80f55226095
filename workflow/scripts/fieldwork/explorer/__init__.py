"""A study's page: everything behind its numbers, in one folder that opens without a server.

Owns the page's data, made from the study's tables, and the page they are shown in.
"""
