"""The data behind the handles: signed, probed, looked into, fetched and checked.

- opening.py: the clients of signer and storage. names.py: a handle as a folder's or a job's name.
- signer.py, links.py, resolve.py: handles become signed URLs, and which evaluations can be run.
- answers.py, identity.py, ranged.py: what storage answers mean; one version of an object, in ranges.
- containers.py, probe.py: what an object is and how large, by one ranged GET.
- sandbox.py, sandboxed.py, frames.py: a child process with limits, which does all parsing.
- walker/, blocks.py, inside.py, describe.py, peek.py: inside a .h5ad, by few ranged reads; contents.py:
  inside all of them.
- choose.py, fetch/, bring.py: which snapshots are brought, and bringing them.
- checks.py, backed.py, inspect.py, files.py: what was brought, checked and opened.
- screens.py: what the targets show in a terminal.
"""
