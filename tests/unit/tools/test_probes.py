# SPDX-License-Identifier: GPL-2.0-or-later
"""The probes of a kernel's headers (driver/compat) choose right or fail, loudly."""
import re
import subprocess

import pytest

from erdma import headers, modules
from erdma.paths import TOP

pytestmark = [pytest.mark.group('unit'), pytest.mark.limit(120)]

COMPAT = TOP / 'driver/compat'
#: A compiler that accepts the variants in the file "accepts", and "headers" compiled once, and
#: writes down what it was called for.
COMPILER = '''\
#!/bin/sh
name=headers how=alone
for x; do
    case $x in
    -DERDMA_PROBE_*) name=${x#-DERDMA_PROBE_};;
    */shared.h) how=shared;;
    esac
done
echo "$name $how" >>"$(dirname "$0")/calls"
if grep -qx "$name" "$(dirname "$0")/accepts"; then exit 0; fi
if grep -qx "$name $how" "$(dirname "$0")/accepts"; then exit 0; fi
echo "error: no $name here" >&2
exit 1
'''


def variants():
    """File of a probe -> its variants."""
    return {p.name: sorted(set(re.findall(r'(?m)^#ifdef ERDMA_PROBE_(\w+)$', p.read_text())))
            for p in sorted(COMPAT.glob('probe_*.c'))}


def of_one_kernel():
    """One variant of each probe."""
    return [x[-1] for name, x in variants().items() if name != 'probe_control.c']


def all_variants():
    """Those of all probes."""
    return sum(variants().values(), [])


@pytest.fixture
def probe(tmp_path):
    """Run probe.sh with a compiler that accepts these variants."""
    cc = tmp_path / 'cc'
    cc.write_text(COMPILER)
    cc.chmod(0o755)

    def run(accepts):
        (tmp_path / 'accepts').write_text(''.join(x + '\n' for x in accepts))
        done = subprocess.run([COMPAT / 'probe.sh', tmp_path / 'found', cc, '-O2'], text=True,
                              capture_output=True, check=False, timeout=60)
        assert not (tmp_path / 'found.logs').exists()
        done.calls = (tmp_path / 'calls').read_text().splitlines()
        done.found = (tmp_path / 'found').read_text() if (tmp_path / 'found').exists() else None
        assert (done.found is None) == bool(done.returncode)
        return done
    return run


def test_every_probe_has_variants_of_its_own():
    found = variants()
    assert len(found) > 1 and all(len(x) >= 2 for x in found.values()), found
    names = all_variants()
    assert len(names) == len(set(names))


def test_page_of_kernels_names_every_probe():
    """Those where Linux 5.10 differs, in a sentence, and the others, in a table."""
    text = (TOP / 'docs/kernels.md').read_text(encoding='utf-8')
    sentence = re.search(r'(?s)^Where 5\.10 differs from 6\.1 only:(.*?)\. Macros', text, re.M)[1]
    table = text.partition('| Probe | 6.1 |')[2].partition('\n\n')[0]
    named = re.findall(r'`(\w+)`', sentence) + re.findall(r'(?m)^\| `(\w+)` \|', table)
    assert sorted(named) == sorted(x.removeprefix('probe_').removesuffix('.c') for x in variants()
                                   if x != 'probe_control.c')


def test_one_variant_of_each_probe_is_found(probe):
    done = probe(['CONTROL_GOOD', *of_one_kernel()])
    assert done.found == ''.join(f'#define ERDMA_COMPAT_{x} 1\n' for x in of_one_kernel())


def test_headers_are_compiled_once_for_all_probes(probe):
    done = probe(['headers', 'CONTROL_GOOD', *of_one_kernel()])
    assert done.found == ''.join(f'#define ERDMA_COMPAT_{x} 1\n' for x in of_one_kernel())
    assert sorted(done.calls) == sorted(f'{x} shared' for x in ['headers', *all_variants()])


@pytest.mark.parametrize('accepts', ([], [f'{x} shared' for x in ('UMEM_GET', 'CONTROL_BAD_TYPE')]))
def test_probes_that_fail_with_shared_headers_are_tried_without(probe, accepts):
    """Whether none or too many compile so: what counts is how they compile alone."""
    alone = [f'{x} alone' for x in ['CONTROL_GOOD', *of_one_kernel()]]
    done = probe(['headers', 'CONTROL_GOOD', *alone, *accepts])
    assert done.found == ''.join(f'#define ERDMA_COMPAT_{x} 1\n' for x in of_one_kernel())
    assert set(done.calls) > {f'{x} alone' for x in all_variants()}


@pytest.mark.parametrize('accepts', ([], ['CONTROL_BAD_TYPE'],
                                     ['CONTROL_GOOD', 'CONTROL_BAD_NAME'],
                                     ['CONTROL_GOOD', 'CONTROL_BAD_TYPE']))
def test_a_wrong_control_ends_the_build(probe, accepts):
    done = probe(accepts + of_one_kernel())
    assert done.returncode and 'cannot be trusted' in done.stderr


def test_a_kernel_without_a_known_variant_ends_the_build(probe):
    done = probe(['CONTROL_GOOD', *(x for x in of_one_kernel() if x != 'UMEM_GET_VA')])
    assert done.returncode and 'API that the driver does not know: of compat/probe_umem.c' in \
        done.stderr
    assert 'error: no UMEM_GET_VA here' in done.stderr


def test_two_variants_end_the_build(probe):
    done = probe(['CONTROL_GOOD', 'UMEM_GET', *of_one_kernel()])
    assert done.returncode and 'UMEM_GET' in done.stderr and 'probe_umem.c' in done.stderr


# ---- with the real compiler and headers ----------------------------------------------

@pytest.fixture
def driver(tmp_path):
    """A copy of the driver; make until the probes are done."""
    modules.copy_driver(tmp_path)

    def make():
        return subprocess.run(
            ['make', '-C', headers.folder(), f'M={tmp_path}/driver', 'modules', 'erdma-y=erdma_pd.o'],
            text=True, capture_output=True, check=False, timeout=100)
    make.kbuild = tmp_path / 'driver/Kbuild'
    make.script = tmp_path / 'driver/compat/probe.sh'
    make.found = tmp_path / 'driver/compat.found'
    return make


def edit(path, old, new):
    """Break a file."""
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_headers_that_are_compiled_once_fit_this_kernel(driver):
    """Else each of them is compiled fifty times, and nobody sees it."""
    edit(driver.script, 'if ! (probe_all_fast "$@") 2>/dev/null; then', 'if ! (probe_all_fast "$@"); then')
    edit(driver.script, '\tprobe_all "$@"\n', '\tfail slow\n')
    done = driver()
    assert driver.found.exists(), done


def test_a_definition_missing_on_the_command_line_ends_the_build(driver):
    edit(driver.kbuild, """-DKBUILD_MODNAME='"erdma"'""", '')
    done = driver()
    assert done.returncode and 'cannot be trusted' in done.stderr, done
    assert 'KBUILD_MODNAME' in done.stderr and not driver.found.exists()


def test_a_compiler_that_accepts_wrong_types_ends_the_build(driver):
    edit(driver.script, '-Werror=incompatible-pointer-types', '-Wno-incompatible-pointer-types')
    done = driver()
    assert done.returncode and 'cannot be trusted' in done.stderr, done
    assert 'CONTROL_BAD_TYPE' in done.stderr and not driver.found.exists()
