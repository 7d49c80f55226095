"""What a user waits for, and what an answer costs."""
