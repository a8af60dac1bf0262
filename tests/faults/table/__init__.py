"""The table of faults: each is really made to happen at each stage under each pack, and what comes
of it is noted."""
