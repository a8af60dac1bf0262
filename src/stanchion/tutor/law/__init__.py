"""The law: which moves are legal, what they do, and which claims are proven."""
