"""What differs between two reports: rows in, changes out.

```
frames    a table by columns, whichever version wrote it
keyed     rows of two tables paired by key
delta     what differs, table by table
views     what a report looked at, and what it therefore can't have missed
known     the last known state of what the earlier report did not observe
renames   a removed and an added row of one blob
places    the file that a row rests on, and the change it belongs to
causes    upstream, storage, another version or another configuration; which commit
severity  how bad each kind of change is
groups    one upstream change in many rows
compare   all of it
verdict   the exit code
```
"""
