"""What a second look at the first version found, by number; each test fails where it is so again."""
