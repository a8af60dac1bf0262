"""The packs that users load, on calls of real agents, beside the same checks written by hand."""
