"""Programs that work on the project. Nothing that is installed imports them."""
