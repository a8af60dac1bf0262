"""Learning: outcomes of calls become experience, beside the way of every decision."""
