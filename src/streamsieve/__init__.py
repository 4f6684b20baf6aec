"""Online feature selection: the k features that matter, in one pass over a stream too large to hold."""
