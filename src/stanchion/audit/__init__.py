"""The audit trail: what was decided, in canonical bytes, chained by hashes."""
