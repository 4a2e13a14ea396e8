# SPDX-License-Identifier: GPL-2.0-or-later
"""vm.lib.verdicts: a verdict that a test brought about has to go, on a guest that is none."""
import contextlib

import pytest

from erdma.vm import Timeout
from vm.lib import verdicts

pytestmark = pytest.mark.group('unit')


class Guest:
    """Answers of eadm: rules by command, and by what they are when a connection works."""

    def __init__(self):
        self.why, self.doctor, self.of_next = ['no-receive'], ['healthy'], ['idle-both']
        self.loaded, self.driver = [], self

    def unload(self):
        self.loaded.append('unload')

    def load(self):
        self.loaded.append('load')

    @staticmethod
    def wait_until(what, check, _timeout):
        if not check():
            raise Timeout(what)


def rows(rules):
    """Data of why or doctor: an element, or none."""
    found = [{'rule': x, 'side': 'peer', 'text': '', 'next': ''} for x in rules]
    return [{'subject': 'qp 1', 'verdict': found[0], 'also': found[1:]}] if found else []


@pytest.fixture(name='vm')
def _vm(monkeypatch):
    """A guest with a fault, which goes when something else is written into it."""
    vm = Guest()

    @contextlib.contextmanager
    def works(*_, **__):
        before, vm.pid = vm.why, 7
        vm.why = [*(before if vm.sticks else []), *vm.of_next]
        yield vm
        vm.why = before
    vm.sticks = False
    monkeypatch.setattr(verdicts, 'eadm_data', lambda vm, *_: rows(vm.why))
    monkeypatch.setattr(verdicts, '_doctor', lambda vm: rows(vm.doctor))
    monkeypatch.setattr(verdicts, 'replay', lambda *_: None)
    monkeypatch.setattr(verdicts, 'Cause', works)
    monkeypatch.setattr(verdicts, 'Traffic', works)
    monkeypatch.setattr(verdicts, '_there', {})
    return vm


def test_what_goes_is_good(vm):
    verdicts.has(vm, 'no-receive', 'peer')
    verdicts.see_all_go()
    verdicts.see_all_go()


@pytest.mark.parametrize('rule', ('no-receive', 'cm-refused', 'card-stuck'))
def test_what_stays_is_not(vm, rule):
    vm.why, vm.sticks = [rule], True
    verdicts.has(vm, rule, 'peer')
    with pytest.raises(Timeout, match=rule):
        verdicts.see_all_go()


def test_no_answer_is_no_proof(vm):
    verdicts.has(vm, 'no-receive', 'peer')
    vm.of_next = []
    with pytest.raises(Timeout, match='no-receive'):
        verdicts.see_all_go()


def test_idle_goes_when_data_moves(vm):
    vm.why = ['idle-both']
    verdicts.has(vm, 'idle-both', 'peer')
    with pytest.raises(Timeout, match='idle-both'):
        verdicts.see_all_go()
    verdicts.has(vm, 'idle-both', 'peer')
    vm.of_next = ['works']
    verdicts.see_all_go()


def test_what_doctor_found_has_to_go_from_doctor(vm):
    vm.doctor = ['link-down']
    verdicts.doctor_has(vm, 'link-down', 'peer')
    with pytest.raises(Timeout, match='link-down'):
        verdicts.see_all_go()
    verdicts.doctor_has(vm, 'link-down', 'peer')
    vm.doctor = ['healthy']
    verdicts.doctor_has_not(vm, 'link-down')
    vm.doctor = ['link-down']           # it was seen to go
    verdicts.see_all_go()


def test_that_doctor_does_not_have_it_is_no_proof_for_why(vm):
    verdicts.has(vm, 'no-receive', 'peer')
    verdicts.doctor_has_not(vm, 'no-receive')
    vm.sticks = True
    with pytest.raises(Timeout, match='no-receive'):
        verdicts.see_all_go()


def test_a_reset_goes_with_the_driver(vm):
    vm.doctor = ['card-reset']
    verdicts.doctor_has(vm, 'card-reset', 'peer')
    vm.doctor = ['healthy']
    verdicts.see_all_go()
    assert vm.loaded == ['unload', 'load']


def test_what_has_no_cure_is_said(vm):
    vm.sticks = True
    verdicts.has(vm, 'no-receive', 'peer')
    verdicts.stays(vm, 'no-receive')
    verdicts.see_all_go()
    with pytest.raises(KeyError):
        verdicts.stays(vm, 'no-receive')
