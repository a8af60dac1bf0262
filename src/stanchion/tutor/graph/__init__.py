"""The graph of evidence (PCG)."""
