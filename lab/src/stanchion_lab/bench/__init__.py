"""`make bench`: what a decision costs, beside the same checks written by hand, in one run."""
