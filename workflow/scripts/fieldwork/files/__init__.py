"""Files that people bring: spreadsheets, JSON, lists of texts, leaderboards."""
