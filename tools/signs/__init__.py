"""Trains the model by which the `injection` guard knows texts that read like attacks, and shows how
far it carries."""
