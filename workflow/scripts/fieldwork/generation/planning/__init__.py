"""What a study will send and what that costs, before anything is sent."""
