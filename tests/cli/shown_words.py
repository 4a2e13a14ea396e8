#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Every word that eadm shows as a state, flag, reason or kind, out of the tables of its source.

A table is an array of strings, a list of X macros that fills one, or the branches of an expression
that ends in a fact. Prints them, a word per line; 'explain' has to know each.
"""
import glob
import os
import re

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../..')
WORD = re.compile(r'[A-Za-z][A-Za-z0-9_-]*')
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
# Arrays of words that are no facts: what is typed, names of files and members, parts of sentences
NOT_SHOWN = {
    'attempt.c:texts', 'cmd_debug.c:cat_texts', 'cmd_dev.c:reasons', 'cmd_doctor.c:words',
    'cmd_shell.c:shell_words', 'cmd_shell.c:words', 'cmd_shell.c:names', 'cmd_tool.c:calls',
    'host.c:libdirs', 'judge_dev.c:texts', 'judge_dev.c:limits', 'judge_qp.c:texts',
    'meanings.c:prefixes', 'redact.c:words', 'redact.c:redact_names', 'runbooks.c:runbooks',
    'snap_whole.c:words', 'top_read.c:drops', 'cmd_stat.c:by_importance', 'top_rows.c:names',
    'step.c:programs', 'step.c:links', 'step.c:elsewhere', 'step.c:live',
}
# What stands for an error number without a name; a key of JSON
NO_FACT = {'EUNKNOWN', 'time_ns'}
# Of these files the words in expressions are shown; the arrays of all files are
SHOWING = ('decode*.c', 'dump*.c', 'fallback.c', 'health.c', 'cmd_dev.c', 'cmd_log.c', 'cmd_why.c',
           'cmd_diff.c', 'rules.c', 'metrics.c')


def read(path):
    with open(path, encoding='utf-8') as f:
        return re.sub(r'/\*.*?\*/', '', f.read(), flags=re.S)


def macros():
    """List of X macros: the first string of each element"""
    found = {}
    for path in glob.glob(f'{TOP}/include/*/*.h') + glob.glob(f'{TOP}/eadm/*.h'):
        for name, body in re.findall(r'#define (\w+)\(X\)((?:.*\\\n)*.*)', read(path)):
            found[name] = [x for x in re.findall(r'X\([^"]*?"([^"]*)"', body)]
    return found


def arrays(path, lists):
    base = os.path.basename(path)
    for name, body in re.findall(r'const char \*const (\w+)\[\w*\] = \{(.*?)\};', read(path), re.S):
        if f'{base}:{name}' in NOT_SHOWN:
            continue
        yield from STRING.findall(body)
        for macro in re.findall(r'\b([A-Z][A-Z0-9_]+)\(', body):
            yield from lists.get(macro, ())


def expressions(path):
    text = read(path)
    for call in re.findall(r'\b(?:obj_str|obj_word|decode_name|diff_row)\((.*?)\);', text, re.S):
        yield from STRING.findall(call)
    for part in re.findall(r'(?:return|[?:])\s*("[^"]*")\s*[;:?,]', text):
        yield part.strip('"')


def main():
    lists, words = macros(), set()
    for path in glob.glob(f'{TOP}/eadm/*.c'):
        words.update(arrays(path, lists))
    for pattern in SHOWING:
        for path in glob.glob(f'{TOP}/eadm/{pattern}'):
            words.update(expressions(path))
    print('\n'.join(sorted(x for x in words if WORD.fullmatch(x) and x not in NO_FACT)))


if __name__ == '__main__':
    main()
