"""What tools and models take and return, read and given back."""
