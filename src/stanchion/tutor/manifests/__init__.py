"""Manifests: what a run was made of, in one file that says of itself whether it was changed."""
