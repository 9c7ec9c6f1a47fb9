#!/usr/bin/env bash
# Ends what up.sh began: jobs, node daemons, controller, munged, each by its pid file. Removes its folder and link.
set -uo pipefail

home=${SLURM_TESTBED:-${TMPDIR:-/tmp}/benchproof-slurm}
[ -d "$home" ] || exit 0
export SLURM_CONF=$home/slurm.conf

end() { # pid file, program
    local pid
    pid=$(cat "$1" 2>/dev/null) || return 0
    [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = "$2" ] || return 0 # its number is another's by now
    kill "$pid"
    for _ in {1..100}; do
        grep -q '^State:.[^ZX]' "/proc/$pid/status" 2>/dev/null || return 0
        sleep 0.1
    done
    kill -9 "$pid"
}

if timeout 5 scontrol ping 2>/dev/null | grep -q UP; then
    timeout 10 scancel --user="$(id -un)"
    for _ in {1..50}; do
        [ -n "$(timeout 5 squeue -h -t running,completing)" ] || break
        sleep 0.1
    done
fi
for file in "$home"/run/node*.pid; do
    [ -e "$file" ] && end "$file" slurmd
done
end "$home/run/slurmctld.pid" slurmctld
[ ! -e "$home/run/slurmdbd.pid" ] || end "$home/run/slurmdbd.pid" slurmdbd
[ ! -e "$home/run/mariadbd.pid" ] || end "$home/run/mariadbd.pid" mariadbd
end "$home/run/munged.pid" munged
if [ "$(readlink /etc/slurm/slurm.conf)" = "$home/slurm.conf" ]; then
    rm /etc/slurm/slurm.conf
fi
rm -rf "$home"
