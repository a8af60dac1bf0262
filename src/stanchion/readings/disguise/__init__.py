"""What a text says in another form: encoded, escaped, with signs that nobody sees, or put together
from pieces."""
