"""What `stanchion audit` does, one word a file."""
