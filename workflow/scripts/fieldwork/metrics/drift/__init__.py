"""What moved between waves of the same questions."""
