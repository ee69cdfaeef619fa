#!/usr/bin/env python3
"""Asks a Debdex service: python3 example.py https://index.example snow

Needs only Python 3.8. If the service is busy, it waits as long as that asks for, at most 30 seconds, and asks again,
at most three times.
"""
import email.utils
import json
import sys
import time
import urllib.error
import urllib.parse
import urllib.request


def pause_of(error):
    """The seconds until the service wants to be asked again. A server in front of it may send a date instead."""
    asked = error.headers.get("Retry-After") or "1"
    if asked.isdigit():
        return int(asked)
    try:
        return max(0, email.utils.parsedate_to_datetime(asked).timestamp() - time.time())
    except (TypeError, ValueError):
        return 1


def get(base, path, **query):
    """The JSON at a path below /v2; None if it does not exist. Raises HTTPError for any other error."""
    address = f"{base.rstrip('/')}/v2{path}"
    if query:
        address += "?" + urllib.parse.urlencode(query)
    for attempt in range(4):
        try:
            with urllib.request.urlopen(address, timeout=10) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            if error.code == 404:
                return None
            if error.code not in (429, 503) or attempt == 3:
                raise
            time.sleep(min(30, pause_of(error)))
    return None


def search(base, text):
    """Every package that matches a text; requests pages as they are needed."""
    page = 1
    while True:
        found = get(base, "/jailbreak/package/search", q=text, limit=100, page=page)
        if found is None:
            sys.exit(f"{base} answers no searches: ask a server of Debdex.")
        yield from found["data"]
        if "nextPage" not in found["refs"]:
            return
        page += 1


if __name__ == "__main__":
    if len(sys.argv) != 3:
        print("Usage: python3 example.py URL WORDS", file=sys.stderr)
        sys.exit(2)
    base, text = sys.argv[1:]
    for package in search(base, text):
        print(package["package_id"], package["version"], package["repository"]["uri"], sep="\t")
