"""Real users' answers: how they are asked for, read, checked and kept private."""
