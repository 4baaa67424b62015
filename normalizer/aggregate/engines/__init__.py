"""Engines that run the queries: DuckDB by default, Spark for ledgers that outgrow a machine.

`interface` is what the rest of the package uses, `on_duckdb` and `on_spark` implement it, `start` imports the one that
is asked for.
"""
