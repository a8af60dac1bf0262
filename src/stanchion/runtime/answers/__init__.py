"""Answers to what guards ask: from a user's code, a process of its own, the resolver, the run's
memory."""
