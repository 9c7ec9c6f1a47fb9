"""Seeded defects: what the linter finds of the mistakes that are planted into an invented family."""
