"""What happens in the keeper: a process of its own, in which nothing else of Stanchion is
loaded."""
