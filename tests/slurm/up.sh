#!/usr/bin/env bash
# Brings up a small Slurm on this machine's loopback for the tests: one controller, two node daemons, no systemd.
#   up.sh [--install]   --install lets apt-get fetch what is missing (Debian, Ubuntu; as root)
#   SLURM_TESTBED_ACCOUNTING=1 up.sh   with accounts, kept by slurmdbd in a MariaDB of its own
# Everything lies below $SLURM_TESTBED (default $TMPDIR/benchproof-slurm). A second call only checks.
# One thing lies outside: /etc/slurm/slurm.conf is linked to ours while the test bed is up, because a job's
# second snakemake is started without SLURM_CONF. Another cluster's file there is left alone, and we refuse.
set -euo pipefail

home=${SLURM_TESTBED:-${TMPDIR:-/tmp}/benchproof-slurm}
port=${SLURM_TESTBED_PORT:-27817}
nodes=(node1 node2)
packages=(slurmctld slurmd slurm-client munge)
commands=(slurmctld slurmd sbatch srun munged)
accounting=${SLURM_TESTBED_ACCOUNTING:-}
if [ -n "$accounting" ]; then
    packages+=(slurmdbd mariadb-server-core mariadb-client-core)
    commands+=(slurmdbd mariadbd)
fi
host=$(hostname -s)
conf=$home/slurm.conf
socket=$home/run/munge.socket

die() { echo "tests/slurm/up.sh: $*" >&2; exit 1; }

await() { # seconds, command…
    local tries=$(($1 * 10))
    shift
    until "$@" >/dev/null 2>&1; do
        ((tries-- > 0)) || return 1
        sleep 0.1
    done
}

runs() { # a pid file's process lives, and is no zombie that its parent has yet to reap
    local pid
    pid=$(cat "$1" 2>/dev/null) && grep -q '^State:.[^ZX]' "/proc/$pid/status" 2>/dev/null
}

absent=()
for command in "${commands[@]}"; do
    command -v "$command" >/dev/null || absent+=("$command")
done
if ((${#absent[@]})); then
    [ "${1:-}" = --install ] || die "missing: ${absent[*]}; as root: apt-get install --no-install-recommends ${packages[*]}, or up.sh --install"
    [ "$(id -u)" = 0 ] || die "--install needs root"
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends "${packages[@]}" >/dev/null
fi
[ "$(id -u)" = 0 ] || die "the node daemons need root"
getent hosts "$host" | grep -q '^127\.' || die "$host must lead to loopback; add '127.0.0.1 $host' to /etc/hosts"
system=/etc/slurm/slurm.conf
if [ -e "$system" ] && [ "$(readlink -f "$system")" != "$(readlink -f "$conf")" ]; then
    die "$system belongs to another cluster"
fi

install -d -m 0755 "$home" "$home"/{state,log,run} "${nodes[@]/#/$home/spool-}"
install -d -m 0700 "$home/munge"
if [ ! -s "$home/munge/key" ]; then
    (umask 077 && head -c 1024 /dev/urandom >"$home/munge/key")
fi
# Compute nodes have no way out: what asks the world there meets a proxy that nobody runs.
cat >"$home/prolog" <<'PROLOG'
#!/bin/sh
[ "$SLURM_JOB_PARTITION" = transfer ] && exit
for name in http_proxy https_proxy HTTP_PROXY HTTPS_PROXY; do
    echo "export $name=http://127.0.0.1:9"
done
PROLOG
chmod 0755 "$home/prolog"
cat >"$conf" <<CONF
ClusterName=testbed
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmUser=root
SlurmdUser=root
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
AuthType=auth/munge
AuthInfo=socket=$socket
StateSaveLocation=$home/state
SlurmdSpoolDir=$home/spool-%n
SlurmctldPidFile=$home/run/slurmctld.pid
SlurmdPidFile=$home/run/%n.pid
SlurmctldLogFile=$home/log/slurmctld.log
SlurmdLogFile=$home/log/%n.log
MailProg=/bin/true
MpiDefault=none
# Both nodes are this machine: believe the lines below rather than the hardware, and do without cgroups.
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
TaskProlog=$home/prolog
# Memory is looked at every second, and too much of it ends a job.
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0,bf_interval=3
MinJobAge=600
# What users schedule themselves, where the scrontab command is there.
ScronParameters=enable
# Every job that was ever submitted, one line each: the tests count them.
JobCompType=jobcomp/filetxt
JobCompLoc=$home/log/jobs.txt
ReturnToService=2
SlurmdTimeout=15
KillWait=3
$(for i in "${!nodes[@]}"; do
    echo "NodeName=${nodes[i]} NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 1 + i)) CPUs=2 RealMemory=6000"
done)
PartitionName=compute Nodes=ALL Default=YES DefaultTime=5 MaxTime=120 DefMemPerCPU=200
PartitionName=transfer Nodes=node1 DefaultTime=5 MaxTime=120 DefMemPerCPU=200
CONF
if [ -n "$accounting" ]; then
    cat >>"$conf" <<CONF
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort=$((port + 8))
AccountingStoragePass=$socket
AccountingStorageEnforce=associations,limits,qos
CONF
else
    # As on small clusters: what ended is told by squeue alone, for MinJobAge seconds.
    echo "AccountingStorageType=accounting_storage/none" >>"$conf"
fi
mkdir -p "${system%/*}"
ln -sfn "$conf" "$system"

if ! munge -S "$socket" -n >/dev/null 2>&1; then
    rm -f "$socket" "$socket.lock"
    munged --socket="$socket" --key-file="$home/munge/key" --log-file="$home/munge/log" \
        --pid-file="$home/run/munged.pid" --seed-file="$home/munge/seed"
    await 5 munge -S "$socket" -n || die "munged does not answer; see $home/munge/log"
fi
if [ -n "$accounting" ]; then
    SLURM_TESTBED_HOME=$home SLURM_TESTBED_PORT=$port bash "$(dirname "$0")/accounting.sh" || die "no accounting; see $home/log"
fi
runs "$home/run/slurmctld.pid" || slurmctld -f "$conf"
await 10 scontrol ping || die "slurmctld does not answer; see $home/log/slurmctld.log"
for node in "${nodes[@]}"; do
    runs "$home/run/$node.pid" || slurmd -N "$node" -f "$conf"
done
ready() { [ "$(sinfo -hN -p compute -t idle,mixed,allocated -o %N | sort -u | wc -l)" = ${#nodes[@]} ]; }
if [ -n "$accounting" ]; then
    # One account and one QOS, and no others: who asks for none has none to ask for but these.
    sacctmgr -i add qos nightly >/dev/null || true
    sacctmgr -i add account audits Description=audits Organization=tests >/dev/null || true
    sacctmgr -i add user "$(id -un)" Account=audits QOS=normal,nightly >/dev/null || true
fi
await 20 ready || die "not all nodes came up: $(sinfo -hN -o '%N %t' | tr '\n' ' '); see $home/log"
echo "Slurm $(slurmd -V | cut -d' ' -f2): ${nodes[*]} are up; tests/slurm/down.sh ends them."
