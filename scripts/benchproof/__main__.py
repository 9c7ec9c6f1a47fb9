"""`python -m benchproof`."""

from benchproof.cli import main

raise SystemExit(main())
