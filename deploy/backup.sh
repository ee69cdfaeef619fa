#!/bin/sh
# backup.sh STATE FOLDER: writes a new file into FOLDER that holds what nobody could tell again: what builds remember, the
# counts of downloads and, where there is a payment gateway, its accounts and sign-ins. Run it as the user of the service;
# servers may run. restore.sh is the way back.
set -eu
if [ $# -ne 2 ]; then
  echo "Usage: deploy/backup.sh STATE FOLDER" >&2
  exit 2
fi
for name in "$1" "$2"; do
  if [ ! -d "$name" ]; then
    echo "$name is no folder, or closed to this user: name the state folder, and one that is there for the backup." >&2
    exit 1
  fi
done
state=$(cd "$1" && pwd)
folder=$(cd "$2" && pwd)
cd "$(dirname "$0")/.."
# The Node that everything runs on, where it is installed here: an older one in PATH knows neither SQLite nor our sources.
PATH=$PWD/node_modules/.bin:$PATH
# A level too high would be packed as well, the databases of running servers among it, and nobody would know before a restore.
if [ ! -e "$state/identifier" ] && [ ! -e "$state/downloads.sqlite" ] && [ ! -e "$state/gateway.sqlite" ]; then
  echo "$state is no state folder: name the one that builds and servers have as --state." >&2
  exit 1
fi
umask 077
# What one left that was killed, or lost its power, is as large and as secret as what it would have become.
find "$folder" -maxdepth 1 -name '.debdex-backup.*' -mtime +0 -exec rm -rf {} +
work=$(mktemp -d "$folder/.debdex-backup.XXXXXX")
# A signal alone does not have every shell do what it does at its exit.
trap 'rm -rf "$work"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
mkdir "$work/parts"
# Databases of a running server are copied by their own means. The snapshots are fetched again from their origins, and
# the site is built again; a rehearsal is thrown away. Where a build or a server wrote meanwhile tar ends with 1, which
# is no failure; with another, it is.
tar -C "$state" -cf "$work/parts/state.tar" --warning=no-file-changed --warning=no-file-removed \
  --exclude='./snapshots' --exclude='./compressed' --exclude='./site' --exclude='./rehearsal' \
  --exclude='./*.lock' --exclude='./*.lock.json' --exclude='./catalog.next*' \
  --exclude='./downloads.sqlite*' --exclude='./gateway.sqlite*' . || [ $? -eq 1 ]
tar -tf "$work/parts/state.tar" >/dev/null
if [ -e "$state/downloads.sqlite" ]; then
  # Without the marks of the day and their key, which tell whose network reported what: both are destroyed with the day, and
  # a backup stays.
  node -e 'const { backup, DatabaseSync } = require("node:sqlite");
    const [, from, to] = process.argv;
    backup(new DatabaseSync(from, { readOnly: true }), to).then(() => {
      const copy = new DatabaseSync(to);
      copy.exec("PRAGMA secure_delete = ON");
      const tables = copy.prepare("SELECT name FROM sqlite_schema").all().map(({ name }) => name);
      for (const table of ["mark", "marked_network", "marking"])
        if (tables.includes(table)) copy.exec(`DELETE FROM ${table}`);
      copy.close();
    })' "$state/downloads.sqlite" "$work/parts/downloads.sqlite"
fi
if [ -e "$state/gateway.sqlite" ] || [ -n "${GATEWAY_DATABASE_URL:-}" ]; then
  node scripts/gateway.ts backup "$work/parts/gateway.backup" --state "$state" >/dev/null
fi
tar -C "$work/parts" -czf "$work/whole.tar.gz" .
name=$folder/debdex-$(date -u +%Y%m%dT%H%M%SZ).tar.gz
ln "$work/whole.tar.gz" "$name"
echo "$name"
