"""What a second look at the first version found, one file for each finding."""
