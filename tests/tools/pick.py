"""Print one value of a JSON document: pick.py FILE PATH, e.g. error.nearest.0.exchange

Texts are printed bare, everything else as JSON. In a list, a number counts from 0 and
NAME=TEXT takes the only object with that value: sessions.session=default.exact
Exit status 1 when there is no such value.
"""
import json
import sys


def step(value, name):
    if isinstance(value, list) and "=" in name:
        key, _, text = name.partition("=")
        (value,) = (one for one in value if one[key] == text)
        return value
    return value[int(name)] if isinstance(value, list) else value[name]


def main(path, names):
    with open(path) as f:
        value = json.load(f)
    try:
        for name in filter(None, names.split(".")):
            value = step(value, name)
    except (LookupError, TypeError, ValueError):
        sys.exit(f"pick: {path} has no {names}")
    print(value if isinstance(value, str) else json.dumps(value))


main(*sys.argv[1:])
