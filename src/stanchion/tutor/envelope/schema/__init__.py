"""Layer 1: the one move that a reply means, however a model has written it down, or what is wrong
with the reply."""
