"""Pages that are written from the code: methods, public names, commands."""
