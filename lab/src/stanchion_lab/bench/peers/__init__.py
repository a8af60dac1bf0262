"""`make bench-peers`: the same calls through others' libraries, each in an environment of its own,
in one sitting."""
