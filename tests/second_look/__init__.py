"""What a second look at the first version found, each finding with a test that is named for it."""
