# SPDX-License-Identifier: GPL-2.0-or-later
"""Processes that find each other in a directory: real processes, sockets and memory."""
import pytest

pytestmark = [pytest.mark.group('unit'), pytest.mark.limit(400), pytest.mark.needs('unit-model')]


def test_fabric(tap):
    tap.program(['qemu-model/build/mesh/mesh-tests'], 380)
