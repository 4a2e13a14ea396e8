# SPDX-License-Identifier: GPL-2.0-or-later
"""Fixtures of the tests that drive a QEMU without a guest.

ERDMA_QEMU_ASAN   a QEMU with the device built in, with ASan and UBSan: an error
                  they report, or a leak, fails the test in which it happens
ERDMA_QTEST_SEED  of random input; the default is always the same
"""
import os
import random
from pathlib import Path

import pytest

from lib import products

TOP = Path(__file__).resolve().parents[2]
PRELOAD = TOP / 'qemu-model/build/erdma-qemu.so'


@pytest.fixture(scope='session')
def qemu_asan() -> str:
    """Path of the QEMU with ASan; it is built if ERDMA_QEMU_ASAN names none."""
    path = os.environ.get('ERDMA_QEMU_ASAN') or products.build('qemu-asan')
    if not os.access(path, os.X_OK):
        pytest.fail(f'ERDMA_QEMU_ASAN is {path}, expected an executable file')
    return path


@pytest.fixture(scope='session')
def preload() -> str:
    """Path of the device for the installed QEMU."""
    products.build('model')
    return str(PRELOAD)


@pytest.fixture(autouse=True)
def seed() -> int:
    """Random input is the same in each run."""
    value = int(os.environ.get('ERDMA_QTEST_SEED', '1'))
    random.seed(value)
    return value
