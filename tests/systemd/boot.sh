#!/bin/bash
# Boots systemd as the first process of namespaces of its own, for the tests of share/systemd:
#   unshare --pid --fork --mount --cgroup --uts --ipc boot.sh PROJECT ENVIRONMENT PYTHON
# PROJECT: a copy of the project, which appears as /srv/benchproof and becomes a user's; ENVIRONMENT: the .venv that
# it borrows; PYTHON: the prefix of the Python behind that. Nothing of the machine's own units is started, and nothing outside PROJECT is written: what systemd
# and its services write lies in memory, and ends with them.
set -euo pipefail
project=$1 environment=$2 python=$3 user=61234

fresh() { mount -t tmpfs -o mode=755 testbed "$1"; }

mount --make-rprivate /
mount -t proc proc /proc
umount -R /sys/fs/cgroup
mount -t cgroup2 testbed /sys/fs/cgroup

# In the order in which one place hides what another is bound from.
fresh /srv
mkdir /srv/{benchproof,python,units}
mount --bind "$project" /srv/benchproof
chown -R "$user:$user" /srv/benchproof
mkdir /srv/benchproof/.venv
mount --bind "$environment" /srv/benchproof/.venv
mount --bind /srv/benchproof/command /srv/benchproof/.venv/bin/benchproof
mount --bind "$python" /srv/python
for place in /run /tmp /var/tmp /var/lib/systemd; do
    fresh "$place"
done
chmod 1777 /tmp /var/tmp
mkdir /run/lock
install -d -m 2755 -g systemd-journal /run/log/journal # as systemd-tmpfiles has it, which isn't started here
if [ -d /var/log/journal ]; then
    fresh /var/log/journal
fi
# On some machines the environment's Python lies in root's home, which is closed to others.
if ! setpriv --reuid "$user" --clear-groups test -x "$python/bin/python3"; then
    fresh "/$(cut -d/ -f2 <<<"$python")"
    mkdir -p "$python"
    mount --bind /srv/python "$python"
fi

# The units of systemd's that ours rest on, and no others: nothing clears /tmp, sets the clock or mounts disks.
for unit in basic network-online paths shutdown slices sockets timers; do
    cp "/lib/systemd/system/$unit.target" /srv/units/
done
cp /lib/systemd/system/systemd-journald.{service,socket} /lib/systemd/system/systemd-journald-dev-log.socket /srv/units/
printf '[Unit]\n' >/srv/units/sysinit.target
printf '[Unit]\nRequires=systemd-journald.service basic.target\nAfter=basic.target\n' >/srv/units/testbed.target
mount --bind /srv/units /lib/systemd/system
fresh /etc/systemd
mkdir /etc/systemd/system

# A user of the service's own, without a home, and its mail.
{ cat /etc/passwd; echo "benchproof:x:$user:$user::/nonexistent:/usr/sbin/nologin"; } >/srv/passwd
mount --bind /srv/passwd /etc/passwd
fresh /usr/local/sbin
printf '#!/bin/sh\n{ printf "%%s\\n" "$@"; cat; } > /srv/benchproof/mail\n' >/usr/local/sbin/mail
chmod 0755 /usr/local/sbin/mail

exec env -i container=testbed PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    /lib/systemd/systemd --system --unit=testbed.target --log-target=console --show-status=no
