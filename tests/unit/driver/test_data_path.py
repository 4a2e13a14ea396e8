# SPDX-License-Identifier: GPL-2.0-or-later
"""The machine code of the data path: posting, polling and arming record nothing, take no time and
have no trace point, so it is that of a driver without recorders.
"""
import re
import subprocess

import pytest

from erdma.paths import TOP

pytestmark = [pytest.mark.group('unit'), pytest.mark.limit(60), pytest.mark.needs('driver')]

VERBS = {'erdma_post_send', 'erdma_post_recv', 'erdma_poll_cq', 'erdma_req_notify_cq'}
# What a data path has not: recorders with what switches them, clocks, trace points and what
# patches them in
ABSENT = re.compile(r'^(erdma_rec(?!overy)|ktime_|__tracepoint_|__SCT__tp_|__traceiter|__jump_table)')
# Reached only after the end of a QP, when messages of debugging are switched on, and by a request
# that failed
ALLOWED = {'erdma_reflush_schedule', '__erdma_dbg', 'cq_count_failure'}


def known(name):
    """As in the source: without what the compiler adds to a function that it changes."""
    return re.sub(r'\.(isra|constprop|part)\.\d+$', '', name)


def functions(disassembly):
    """Name of a function -> names that it calls, jumps to or refers to."""
    found, name = {}, None
    for line in disassembly.splitlines():
        head = re.match(r'[0-9a-f]+ <(.*)>:$', line)
        if head:
            name = known(head[1])
            found[name] = set()
        elif name:
            found[name] |= {known(x) for x in re.findall(
                r'R_X86_64_\w+\s+([\w.]+?)(?:[-+]0x[0-9a-f]+)?$', line)}
            found[name] |= {known(x.split('+')[0])
                            for x in re.findall(r'<([\w.]+(?:\+0x\w+)?)>$', line)}
    return found


def reached(calls, start, but=()):
    """Names that the functions START come to."""
    todo, seen = set(start), set(start)
    while todo:
        new = calls.get(todo.pop(), set()) - seen - set(but)
        seen |= new
        todo |= new
    return seen


def test_no_recorder_clock_or_trace_point_on_the_data_path():
    text = subprocess.run(['objdump', '-dr', '--no-show-raw-insn', f'{TOP}/driver/erdma.o'],
                          stdout=subprocess.PIPE, text=True, check=True).stdout
    calls = functions(text)
    assert VERBS <= set(calls)
    names = reached(calls, VERBS, ALLOWED)
    assert not sorted(x for x in names if ABSENT.match(x))


def test_what_a_verb_reaches_is_found():
    """By a call of the linker, by one in the same section, by a jump to a cold part."""
    calls = functions('0000000000000010 <erdma_poll_cq>:\n'
                      '  12:\tcall   17 <erdma_poll_cq+0x7>\n'
                      '\t\t\t13: R_X86_64_PLT32\ttake_one-0x4\n'
                      '  20:\tjmp    90 <erdma_poll_cq.cold>\n'
                      '0000000000000090 <erdma_poll_cq.cold>:\n'
                      '  92:\tcall   a0 <helper>\n'
                      '00000000000000a0 <helper>:\n'
                      '\t\t\ta3: R_X86_64_PLT32\terdma_rec_add-0x4\n')
    names = reached(calls, {'erdma_poll_cq'})
    assert {'take_one', 'erdma_poll_cq.cold', 'helper', 'erdma_rec_add'} <= names
    assert ABSENT.match('erdma_rec_add') and not ABSENT.match('erdma_recovery_start')
    assert 'erdma_rec_add' not in reached(calls, {'erdma_poll_cq'}, {'helper'})
