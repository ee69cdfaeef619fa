#!/bin/sh
# restore.sh FILE STATE: unpacks what backup.sh wrote into STATE, which must be empty or not there. Run it as the user of the
# service while nothing runs. Every sign-in of the payment gateway ends, see docs/gateway.md.
set -eu
if [ $# -ne 2 ]; then
  echo "Usage: deploy/restore.sh FILE STATE" >&2
  exit 2
fi
if [ ! -e "$1" ] || [ -d "$1" ]; then
  echo "$1 is no file, or closed to this user: name one that backup.sh wrote." >&2
  exit 1
fi
file=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
umask 077
if [ -e "$2" ] && [ ! -d "$2" ]; then
  echo "$2 is no folder: name an empty one, or one that is not there." >&2
  exit 1
fi
mkdir -p "$2"
state=$(cd "$2" && pwd)
cd "$(dirname "$0")/.."
# The Node that everything runs on, where it is installed here: an older one in PATH knows neither SQLite nor our sources.
PATH=$PWD/node_modules/.bin:$PATH
if [ -n "$(ls -A "$state")" ]; then
  echo "$state is not empty: move it away first." >&2
  exit 1
fi
work=$(mktemp -d "$state/.restore.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
if ! tar -C "$work" -xzf "$file"; then
  # A backup that is whole fails here too where the disk is full, and nobody is to throw it away for that.
  echo "$file could not be unpacked, as tar says above: it is no whole backup, it is closed to this user, or there is no room for it in $state. Nothing was restored." >&2
  exit 1
fi
if [ ! -e "$work/state.tar" ]; then
  echo "$file is no backup: name one that backup.sh wrote. Nothing was restored." >&2
  exit 1
fi
# All of it or nothing: with half a state a build would date everything anew.
mkdir "$work/state"
tar -C "$work/state" -xf "$work/state.tar"
if [ -e "$work/downloads.sqlite" ]; then mv "$work/downloads.sqlite" "$work/state/downloads.sqlite"; fi
if [ -e "$work/gateway.backup" ]; then node scripts/gateway.ts restore "$work/gateway.backup" --state "$work/state" >&2; fi
find "$work/state" -mindepth 1 -maxdepth 1 -exec mv -t "$state" {} +
