# SPDX-License-Identifier: GPL-2.0-or-later
"""The card's unit tests: with three ways in which the host may map guest memory, then with each
card in a process of its own."""
import pytest

pytestmark = [pytest.mark.group('unit'), pytest.mark.limit(400), pytest.mark.needs('unit-model')]

RUNS = ['--map=direct', '--map=bounce', '--map=short', '--wire=shared', '--wire=bytes --map=bounce',
        '--wire=shared --map=short']


@pytest.mark.parametrize('options', RUNS)
def test_core(tap, options):
    tap.program(['qemu-model/build/core/core-tests', *options.split()], 380, name=options)


@pytest.mark.group('long')
def test_core_with_many_seeds(tap):
    """The case of random sequences, which would take as long as all others together."""
    tap.program(['qemu-model/build/core/core-tests', '--seeds=3000', 'process_that_dies_leaves'], 380)
