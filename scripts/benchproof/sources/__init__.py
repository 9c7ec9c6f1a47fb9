"""Where repositories are read from: two sources behind one interface (base.py), one archive (content.py)."""
