"""The tree of any commit, read from the objects of the repository at the root, without a checkout and without git.

`repository` finds the repository and refuses what leads out of it, `refs` finds commits by name, `objects` reads
objects, out of `packs`, with their `differences`, or files of their own, and `trees` parses directories and commits.
`commit_tree` is the tree of a commit as operations see it, read by `blob_opener`; `commit_walk` lists it and
`commit_corpus` searches it. `blob_texts` keeps texts by the ids of their blobs, in the memory of the working tree's
corpus. `submodules` finds the contents of submodules that are checked out, to compare with. `served_commits` says
which commits a server serves, `named_commits` joins those of several roots.
"""
