"""The search for graded values in everything that leaves the vault: says where they are, never what.

```
secrets.py   what of a graded value is searched for: by itself, beside its key, or not at all
harvest.py   the secrets of a repository, and of the links and tokens in the vault
text.py      one normal form of text: escapes undone, case, width and unseen characters gone
numbers.py   one normal form of numbers, however they are written
views.py     what else bytes may say: base64, hex, UTF-16, compressed members, by bounded nesting
needles.py   one automaton over all secrets, and what counts as a match
tables.py, pages.py, surfaces.py   everything that leaves, decoded, each document with its kind
proof.py     invented secrets, planted in every form on every kind of surface
search.py    the search itself, in a process of its own that answers with places and counts
```
"""
