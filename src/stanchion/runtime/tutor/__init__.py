"""What the Tutor is handed: files of games and rules, and commands that really run, confined."""
