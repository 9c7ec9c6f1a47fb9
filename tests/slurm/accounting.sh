#!/usr/bin/env bash
# Starts what keeps the test bed's accounts: a MariaDB on loopback, and slurmdbd. up.sh calls this.
set -euo pipefail

home=$SLURM_TESTBED_HOME port=$SLURM_TESTBED_PORT
data=$home/mariadb
log=$home/log

await() { # seconds, command…
    local tries=$(($1 * 10))
    shift
    until "$@" >/dev/null 2>&1; do
        ((tries-- > 0)) || return 1
        sleep 0.1
    done
}

sql() { mariadb --no-defaults --socket="$home/run/mariadb.socket" --user=root "$@"; }

if ! sql -e 'select 1' >/dev/null 2>&1; then
    if [ ! -d "$data/mysql" ]; then
        mariadb-install-db --no-defaults --user=root --datadir="$data" --auth-root-authentication-method=normal \
            --skip-test-db >"$log/mariadb-install.log" 2>&1
        (umask 077 && head -c 24 /dev/urandom | base64 >"$home/munge/storage")
    fi
    nohup mariadbd --no-defaults --user=root --datadir="$data" --socket="$home/run/mariadb.socket" \
        --pid-file="$home/run/mariadbd.pid" --bind-address=127.0.0.1 --port=$((port + 9)) \
        --innodb-buffer-pool-size=64M --innodb-log-file-size=16M --innodb-lock-wait-timeout=900 \
        >"$log/mariadb.log" 2>&1 &
    await 20 sql -e 'select 1'
fi
secret=$(cat "$home/munge/storage")
sql <<SQL
create database if not exists slurm_acct_db;
create user if not exists slurm@127.0.0.1 identified by '$secret';
grant all on slurm_acct_db.* to slurm@127.0.0.1;
SQL
(umask 077 && cat >"$home/slurmdbd.conf" <<CONF
AuthType=auth/munge
AuthInfo=socket=$home/run/munge.socket
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort=$((port + 8))
SlurmUser=root
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort=$((port + 9))
StorageUser=slurm
StoragePass=$secret
StorageLoc=slurm_acct_db
LogFile=$log/slurmdbd.log
PidFile=$home/run/slurmdbd.pid
CONF
)
export SLURM_CONF=$home/slurm.conf
sacctmgr -n show cluster >/dev/null 2>&1 || slurmdbd
await 20 sacctmgr -n show cluster
sacctmgr -i add cluster testbed >/dev/null || true
