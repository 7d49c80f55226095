"""The form of an answer: its length, how hard it reads, and what a screen reader meets in it."""
