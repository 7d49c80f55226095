"""Files that users bring: spreadsheets, JSON, lists of texts, leaderboards."""
