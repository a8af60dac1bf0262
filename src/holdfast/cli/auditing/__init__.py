"""What `holdfast audit` does, one word a file."""
