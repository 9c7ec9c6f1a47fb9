#!/usr/bin/env bash
# Runs a command with the test bed up: up.sh before, down.sh after, whatever happens between.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
export SLURM_TESTBED=${SLURM_TESTBED:-${TMPDIR:-/tmp}/benchproof-slurm}
trap 'bash "$here/down.sh"' EXIT
# Where scrontab.sh may have put what Debian lacks.
export PATH=$here/../../build:$PATH
bash "$here/up.sh"
"$@"
