"""The contract by which any host is guarded: what a host needs, and nothing else."""
