#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Lay out one JSON document from standard input, a member per line.

Every string, number and word stays byte for byte as it was written: jq and most other
programs read a number into a double, so that above 2^53 a wrong digit would not be seen.
"""
import json
import re
import sys

TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+)')


def layout(text: str) -> str:
    """The document with new white space between its tokens."""
    json.loads(text)                # one document, and nothing behind it
    out, depth, last = [], 0, ''
    for token in TOKEN.findall(text):
        if token in '}]':
            depth -= 1
            out.append('' if last in '{[' else '\n' + '  ' * depth)
        elif last and last in '{[,':
            out.append('\n' + '  ' * depth)
        out.append(': ' if token == ':' else token)
        depth += token in '{['
        last = token
    return ''.join(out) + '\n'


if __name__ == '__main__':
    sys.stdout.write(layout(sys.stdin.read()))
