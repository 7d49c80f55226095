"""The engine of estimates: from answers to values, intervals, differences and reasons."""
