#!/bin/sh
# Makes .venv from a lock file: make_env.sh requirements.txt. Checks what the system must have, says what it downloads.
#   PYTHON=…      the Python to use, for example a module's or conda's (its venv must work on every node)
#   WHEELHOUSE=…  a folder that `make wheelhouse` filled elsewhere: nothing is downloaded
set -eu
lock=$1
wheels=${WHEELHOUSE:-}

missing=""
for python in ${PYTHON:-python3 python3.13 python3.12 python3.11}; do
    if command -v "$python" >/dev/null 2>&1 && "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        found=$python
        break
    fi
done
if [ -z "${found:-}" ]; then
    echo "benchproof needs Python 3.11 or newer; Debian 12 and Ubuntu 24.04 have it: apt-get install python3 python3-venv" >&2
    exit 1
fi
"$found" -c 'import ensurepip, venv' 2>/dev/null || missing="$missing python3-venv"
if [ -n "$missing" ]; then
    echo "missing on this system; install it with: apt-get install$missing" >&2
    exit 1
fi
if ! command -v git >/dev/null 2>&1; then
    echo "There is no git here: set 'source: github' (config/README.md), or install git 2.25 or newer." >&2
elif ! git version | awk '{ split($3, v, "."); exit !(v[1] > 2 || (v[1] == 2 && v[2] >= 25)) }'; then
    echo "This is $(git version), older than 2.25: set 'source: github' (config/README.md), or install a newer one." >&2
fi

if [ -n "$wheels" ]; then
    echo "Making .venv from $wheels; nothing is downloaded, and 800 MB are written."
    [ -x .venv/bin/python ] || "$found" -m venv .venv
elif [ ! -x .venv/bin/python ]; then
    echo "Making .venv: about 210 MB are downloaded and 800 MB written; that takes two to four minutes."
    "$found" -m venv .venv
elif [ "$lock" = requirements-slurm.txt ]; then
    echo "Adding the Slurm executor to .venv: less than 1 MB is downloaded."
elif [ "$lock" != requirements.txt ]; then
    echo "Adding what the tests need to .venv: about 60 MB are downloaded; that takes under a minute."
fi
if [ -n "$wheels" ]; then
    set -- --no-index --find-links "$wheels"
else
    set --
fi
.venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes "$@" -r "$lock"

# The library is used where it lies: a path file makes it importable, and its command is a few lines, begun by
# the shell since a first line of a script holds neither spaces nor long paths.
site=$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
printf '%s\n' "$PWD/scripts" > "$site/benchproof.pth"
cat > .venv/bin/benchproof <<COMMAND
#!/bin/sh
'''exec' "$PWD/.venv/bin/python" "\$0" "\$@"
' '''
from benchproof.cli import main

raise SystemExit(main())
COMMAND
chmod +x .venv/bin/benchproof
echo "The environment is ready: .venv/bin/benchproof --help"
