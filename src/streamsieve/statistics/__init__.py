"""Statistics that merge, and computations on them, shared by all methods."""
