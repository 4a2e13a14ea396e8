# SPDX-License-Identifier: GPL-2.0-or-later
"""What a test needs built in the checkout itself: one function per part.

Each is a step with its log in build/check, and takes a second when nothing
changed. StepFailed: the part does not build; what does not need it can run.
"""
import os
from pathlib import Path

from . import headers, qemu
from .paths import BUILD, MODEL, TOP
from .step import run_step

LOGS = BUILD / 'check'
#: Of kbuild: sparse on every file, also where nothing is compiled.
SPARSE = ('C=2', 'CF=-Wbitwise -Wno-sparse-error')


def make(what, name, limit, *argv) -> None:
    """One make as a step, on all cores."""
    run_step(limit, what, LOGS / f'build-{name}.log', ['make', f'-j{os.cpu_count() or 1}', *argv])


def of_driver() -> tuple:
    """Words of make for the driver that is tested: more warnings, each an error. What installs it
    has neither. With other words make would compile it again.
    """
    return '-C', TOP / 'driver', f'KDIR={headers.folder()}', 'W=1', 'KCFLAGS=-Werror'


def driver() -> Path:
    """driver/erdma.ko, for the guest's kernel."""
    make(f'the driver for {headers.release()}', 'driver', 600, *of_driver())
    return TOP / 'driver/erdma.ko'


def eadm() -> Path:
    """The tool."""
    make('eadm', 'eadm', 600, '-C', TOP / 'eadm')
    return TOP / 'eadm/eadm'


def model() -> Path:
    """The card, to be preloaded into the distribution's QEMU."""
    make('the device model', 'model', 600, '-C', MODEL, 'preload', f'QEMU_SRC={qemu.source()}')
    return MODEL / 'build/erdma-qemu.so'


def programs() -> None:
    """The guest's test programs."""
    make('the test programs', 'progs', 300, '-C', TOP / 'tests/vm/progs')


def kverbs() -> None:
    """The kernel consumer, for the guest's kernel."""
    make('the kernel test module', 'kverbs', 300, '-C', TOP / 'tests/kernel/kverbs',
         f'KDIR={headers.folder()}')


def plugin() -> Path:
    """The plugin that counts instructions, for the distribution's QEMU."""
    make('the plugin for QEMU', 'plugin', 120, '-C', TOP / 'tools/plugin',
         f'QEMU_SRC={qemu.source()}')
    return BUILD / 'plugin/insn_count.so'
