"""Origins: where the values of a call come from, known by what was read and never by what a text
asks for."""
