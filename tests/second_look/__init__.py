"""What a second look at the first version found, each finding as a test."""
