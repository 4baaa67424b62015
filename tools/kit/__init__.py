"""The conformance kit: plant a tree, send requests to a server, check its answers. Standard library only.

`trees` turns a corpus into files, `repositories` the repository of one into a `.git`, `vectors` reads vectors and
checks answers, `peer` talks to a server process, `chance` makes up trees and requests.
"""
