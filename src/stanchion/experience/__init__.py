"""Experience: what is learnt from the outcomes of calls. Pure: it counts and compares, others
store."""
