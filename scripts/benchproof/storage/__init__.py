"""The data behind the handles: signed, probed, looked into, fetched and checked.

- signer.py, links.py, resolve.py: handles become signed URLs, and which evaluations can be run.
- answers.py, identity.py, ranged.py: what storage answers mean; one version of an object, in ranges.
- containers.py, probe.py: what an object is and how large, by one ranged GET.
- sandbox.py, walker/, blocks.py, describe.py, peek.py: inside a .h5ad, by few ranged reads.
- choose.py, fetch/, inspect.py: which snapshots are brought, bringing them, checking them.
"""
