"""SQL: whether a text is SQL, in which dialect, and what each of its statements does."""
