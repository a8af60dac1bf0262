"""The Safety Envelope in the words of its document."""
