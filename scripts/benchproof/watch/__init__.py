"""The unattended run, from pin to drift: `benchproof watch`.

```
arguments its options
command   how a run begins: one at a time, on one UTC day
run       the steps of a run, and what each leaves to be told
nested    the snakemake that does the audit: its limit, its signals, its end
changed   what a comparison of two reports has to say
message   what is said: a subject of one line, then what matters
status    results/status.json, for whoever checks that runs still come
metrics   the same for Prometheus' textfile collector
logs      one log a run, in the vault
```
"""
