"""Experience: what is learnt from the outcomes of calls, and what an agent is told of it. Pure: it
counts, compares and words, others ask and store."""
