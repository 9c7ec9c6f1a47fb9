"""benchproof audits published agent benchmarks from the outside."""

__version__ = "0.1.0"
