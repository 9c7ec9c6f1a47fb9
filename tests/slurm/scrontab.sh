#!/usr/bin/env bash
# Builds the scrontab command, which Debian leaves out of its Slurm though its slurmctld serves it: from Debian's
# source of the installed version, linked with the installed library. Half a minute; as root, with gcc.
#   scrontab.sh FILE   where the command goes
set -euo pipefail

target=$(realpath -m "$1")
version=$(dpkg-query -Wf '${source:Version}' slurm-client)
library=$(dirname "$(dpkg-query -L slurm-wlm-basic-plugins | grep 'libslurmfull.so$')")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The machine's own list of sources stays as it is.
mkdir -p "$work"/{parts,lists/partial,source} "${target%/*}"
for file in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
    [ -e "$file" ] || continue
    case $file in
    *.sources) sed 's/^Types: .*/Types: deb-src/' "$file" >"$work/parts/${file##*/}" ;;
    *.list) sed -n 's/^deb /deb-src /p' "$file" >"$work/parts/${file##*/}" ;;
    esac
done
apt="apt-get -qq -o Dir::Etc::sourceparts=$work/parts -o Dir::Etc::sourcelist=/dev/null -o Dir::State::Lists=$work/lists -o APT::Sandbox::User=root"
$apt update
cd "$work/source"
$apt source --download-only "slurm-wlm=$version" >/dev/null
tar -xf slurm-wlm_*.orig.tar.*
cd slurm-*/
./configure --sysconfdir=/etc/slurm --disable-dependency-tracking --without-munge >"$work/configure.log" 2>&1
cd src/scrontab
for text in default_crontab usage; do
    ld -r -o $text.o -z noexecstack --format=binary $text.txt
    objcopy --rename-section .data=.rodata,alloc,load,readonly,data,contents $text.o
done
gcc -O1 -w -I../.. -DHAVE_CONFIG_H -o "$target" env.c opt.c parse.c scrontab.c default_crontab.o usage.o \
    -L"$library" -Wl,-rpath,"$library" -l:libslurmfull.so -Wl,-export-dynamic
echo "$target: scrontab of Slurm $version"
