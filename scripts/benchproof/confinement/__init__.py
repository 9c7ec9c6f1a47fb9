"""What a process may open of the vault, and what holds it to that (docs/trust.md).

```
needs.py      what each rule opens beyond the files that it declares
process.py    how the process of a job begins: apart from the vault, the terminal, and what crashes leave
confine.py    giving up the vault for ever: the hook in the interpreter, and the bait that proves it
landlock.py   the same in the kernel
```
"""
