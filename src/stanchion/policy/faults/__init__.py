"""Fault classes: whose a failure is, by the error's type, by its status code, and last by what its
text says."""
