# Made from spec/schemas by `nox -s generate`. Do not edit: change the schema and make it anew.
