"""Dialects: what a decision costs in a document's own words, beside the same one in Stanchion's."""
