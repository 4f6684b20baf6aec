"""What everything stands on: rows, parameters, state, losses, tasks and `Method`."""
