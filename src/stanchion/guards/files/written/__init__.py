"""What is written into files, as far as its words tell what it would do: read without running any
of it."""
