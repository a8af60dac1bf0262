"""What a second look at the first version found: a test for each finding."""
