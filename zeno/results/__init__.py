"""Parts that several operations build their results from.

`receipts` are digests of cited lines and their verification, `clip` shortens, `cursors` continue a capped result,
`hints` explain empty results. Nothing here reads the disk by itself.
"""
