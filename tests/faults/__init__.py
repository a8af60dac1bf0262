"""Faults known of other systems, one test each: none of them is ours."""
