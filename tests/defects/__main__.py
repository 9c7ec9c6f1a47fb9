"""Audit the auditor: PYTHONPATH=scripts:tests .venv/bin/python -m defects --help."""

from __future__ import annotations

from defects.campaign import main

if __name__ == "__main__":
    raise SystemExit(main())
