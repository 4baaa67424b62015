"""The subcommands, one module each: flags become objects, objects go into one library call."""
