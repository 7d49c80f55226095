"""Conversations in the files that people have, read and written anew in the form of a corpus."""
