# SPDX-License-Identifier: GPL-2.0-or-later
"""verbs_traffic (tests/vm/progs): traffic in which every byte is checked.

FINE, LOST: exit status of either end, and how a connection ended in what they print.
"""
import re

from erdma.vm import start_server

PROGRAM = '/erdma/build/progs/verbs_traffic'
FINE = 0                # it ended as planned, and all data was right
LOST = 3                # an error completion or a disconnect reported the loss


def serve(vm, wait_ms, port=0, timeout=60):
    """A server in @vm; returns (Process, port). wait_ms: limit of every wait of it."""
    port = port or vm.next_port()
    return start_server(vm, [PROGRAM, 'serve', vm.address(), port, wait_ms], port, timeout), port


def client(server_vm, port, wait_ms, rounds, connections):
    """argv of a client. rounds 0: without end."""
    return [PROGRAM, 'run', server_vm.address(), port, wait_ms, rounds, connections]


def hold(server_vm, port, wait_ms, connections):
    """argv of a client whose connections do one round and are silent then."""
    return [PROGRAM, 'hold', server_vm.address(), port, wait_ms, connections]


def moving(process):
    """Connections of a client that have done their first round."""
    return process.out.count('moving')


def ended_with(process, status):
    """Connections of a server or client that ended with this status."""
    return len(re.findall(rf'ended with {status}\b', process.out))
