"""How real users are asked: the survey as a page and for Qualtrics, and the papers beside it."""
