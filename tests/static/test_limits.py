# SPDX-License-Identifier: GPL-2.0-or-later
"""Numbers in the documents are those of the code."""
import re

import pytest
from tree import TOP, text

pytestmark = [pytest.mark.group('static')]

UAPI = 'include/uapi/erdma_diag.h'
DIAG = 'driver/erdma_diag_int.h'
HARDWARE = 'docs/erdma-hardware.md'
WIRE = 'qemu-model/core/wire/wire_msg.h'
WORDS = {'two': 2, 'eight': 8}

#: (document, words around the number, header, constant, unit of the number in the document)
LIMITS = [
    ('docs/abi.md', r'is zero, else E2BIG; above (\d+): E2BIG', UAPI, 'ERDMA_DIAG_MAX_SIZE', 1),
    ('docs/abi.md', r'A call uses at most (\d+) KiB of kernel memory for', DIAG, 'ERDMA_DIAG_CHUNK',
     1024),
    ('docs/abi.md', r'At most (\w+) device commands of the node', DIAG, 'ERDMA_DIAG_HW_CREDITS', 1),
    ('docs/abi.md', r'in flight, for at most (\d+) s each', DIAG, 'ERDMA_DIAG_HW_MS', 1000),
    ('docs/abi.md', r'no answer within (\d+) s', DIAG, 'ERDMA_DIAG_HW_MS', 1000),
    ('docs/abi.md', r'after (\w+) of them the device is not asked', DIAG,
     'ERDMA_DIAG_HW_MAX_STUCK', 1),
    (HARDWARE, r'send WRs per QP \| fixed (\d+)', 'include/erdma/*.h', 'ERDMA_MAX_SEND_WR', 1),
    (HARDWARE, r'read SGEs \| (\d+) /', 'include/erdma/*.h', 'ERDMA_MAX_SEND_SGE', 1),
    (HARDWARE, r'read SGEs \| \d+ / (\d+)', 'include/erdma/*.h', 'ERDMA_MAX_RECV_SGE', 1),
    (HARDWARE, r'inline data \| (\d+) bytes', 'include/erdma/*.h', 'ERDMA_MAX_INLINE', 1),
    (HARDWARE, r'ORD / IRD \| (\d+) /', 'include/erdma/*.h', 'ERDMA_MAX_ORD', 1),
    (HARDWARE, r'ORD / IRD \| \d+ / (\d+)', 'include/erdma/*.h', 'ERDMA_MAX_IRD', 1),
    (HARDWARE, r'\| PDs \| ([\d ]+),', 'include/erdma/*.h', 'ERDMA_MAX_PD', 1),
    (HARDWARE, r'user contexts \| ([\d ]+),', 'include/erdma/*.h', 'ERDMA_MAX_CONTEXTS', 1),
    (HARDWARE, r'FRMR page list \| (\d+) reported', 'include/erdma/*.h',
     'ERDMA_FRMR_PAGES_REPORTED', 1),
    (HARDWARE, r'alloc_mr accepts up to ([\d ]+) entries', 'include/erdma/*.h',
     'ERDMA_MAX_FRMR_PAGES', 1),
    ('docs/model-notes.md', r'a peer in another process up to (\d+) are', WIRE, 'WIRE_WINDOW', 1),
    ('docs/model-notes.md', r'Limits: (\d+) requests and', WIRE, 'WIRE_WINDOW', 1),
    ('docs/model-notes.md', r'Limits: \d+ requests and (\d+) KiB', WIRE, 'WIRE_WINDOW_BYTES', 1024),
    ('docs/qemu-model.md', r'on their way to another process; of all together \| (\d+);', WIRE,
     'WIRE_WINDOW', 1),
]


def constant(names, name):
    """The value of a #define: a number, or a product of two."""
    for path in sorted(TOP.glob(names)):
        found = re.search(rf'(?m)^#define\s+{name}\s+\(?(\w+)(?: \* (\w+))?\)?u?\s*(?:/\*.*)?$',
                          text(TOP, str(path.relative_to(TOP))))
        if found:
            value = int(found[1].rstrip('uUlL'), 0)
            return value * int((found[2] or '1').rstrip('uUlL'), 0)
    raise AssertionError(f'{names}: no number called {name}')


@pytest.mark.parametrize(('document', 'words', 'header', 'name', 'unit'), LIMITS,
                         ids=[f'{x[3]}-{n}' for n, x in enumerate(LIMITS)])
def test_documented_limit_is_the_code_s(document, words, header, name, unit):
    found = re.search(words, ' '.join(text(TOP, document).split()))
    assert found, f'{document} does not say "{words}"'
    said = found[1].replace(' ', '').replace('\u202f', '').replace('\xa0', '')
    assert WORDS.get(said, said) and int(WORDS.get(said, said)) * unit == constant(header, name)
