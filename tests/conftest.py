# SPDX-License-Identifier: GPL-2.0-or-later
"""The plugins of the test suite; tests/README.md is the guide."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), 'tools')]

pytest_plugins = ['lib.select', 'lib.report', 'lib.cores', 'lib.products', 'lib.tap_items',
                  'lib.vms', 'lib.doctor', 'vm.lib.verdicts']
