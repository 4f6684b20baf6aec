"""Methods that learn row by row. Their estimators are made in `streamsieve.estimators`."""
