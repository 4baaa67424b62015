"""The conformance kit: plant a tree, put questions to a server, judge its answers. Standard library only.

`trees` turns a corpus into files, `vectors` reads vectors and judges answers, `peer` talks to a server process,
`chance` makes up trees and requests.
"""
