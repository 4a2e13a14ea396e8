#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Is each output of eadm one document, with a schema, and the exit status that eadm had?

    onedoc.py LIST      lines "STATUS FILE COMMAND..."; prints those that are wrong
"""
import json
import re
import sys


def wrong(status: int, text: str) -> str:
    """What is wrong with an output; "" if nothing is"""
    try:
        doc = json.loads(text)
    except ValueError as e:
        return f'not one document: {e}'
    if not re.fullmatch(r'eadm\.[a-z.-]+/2', doc.get('schema', '')):
        return 'no schema'
    if doc['exit'] != status:
        return f'exit {doc["exit"]}'
    if doc['ok']:
        right = isinstance(doc['data'], list) and isinstance(doc['warnings'], list)
    else:
        right = all(isinstance(doc['error'][x], str) for x in ('code', 'text'))
    return '' if right else 'members are missing'


def main() -> int:
    found = n = 0
    with open(sys.argv[1], encoding='utf-8') as lines:
        for line in lines:
            status, file, command = line.rstrip('\n').split(' ', 2)
            with open(file, encoding='utf-8') as f:
                text = f.read()
            reason = wrong(int(status), text)
            if reason:
                print(f'{command}: status {status}, {reason}\n{text}')
            found += bool(reason)
            n += 1
    return int(found > 0 or n == 0)


if __name__ == '__main__':
    sys.exit(main())
