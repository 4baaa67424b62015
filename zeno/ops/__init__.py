"""The operations, one module each: data in, data out, with the disk behind `tree` and the clock behind `meter`."""
