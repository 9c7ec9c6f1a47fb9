"""All targets; importing this registers them."""

from fuzz.targets import binary, network, objects, repository, shown, users

__all__ = ["binary", "network", "objects", "repository", "shown", "users"]
