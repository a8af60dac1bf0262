"""Notices: occurrences brought to a log, a command or a webhook."""
