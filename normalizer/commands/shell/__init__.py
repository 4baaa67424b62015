"""Commands that a shell or a package runs, which no list shows: `completion` and `man`."""
