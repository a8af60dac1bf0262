"""The same decisions before and after: plays a fixed set of events, and says which decisions are
not as they were."""
