"""The basis of all modules: rows, parameters, state, losses, tasks and `Method`."""
