"""Guards, policies and moments drawn from a seed: small ones of every kind, so that rare
combinations are common."""
