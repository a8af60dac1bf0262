"""The audit trail: what writes it, what reads it, and what finds out that it was changed."""
