"""The dialects beside Stanchion itself: what a decision costs in a document's words."""
