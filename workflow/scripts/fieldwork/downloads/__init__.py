"""What a study downloads, and the list of what is there."""
