"""Guards whose code judges in a process of its own, which can be ended whatever the code does."""
