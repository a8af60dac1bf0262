"""Services: a broker that judges for programs of other users."""
