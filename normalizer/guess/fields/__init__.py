"""The fields of rows.

`names` knows words by which fields are called, `profile` collects what stands in each, `values` says how a value is
written. `item_properties` finds numbers that are about an item and not about a judgement of it, `unexplained` the
fields that a reading does not use and that may be judgements or names: a reading tells each of them. `column_names`
says what several columns are called by, `orders` which answer was shown first, `result_tables` whether rows are means.
"""
