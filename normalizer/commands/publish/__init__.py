"""Commands for what is published: `check`, `report`, `export`, `build` and `docs`."""
