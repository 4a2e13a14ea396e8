# SPDX-License-Identifier: GPL-2.0-or-later
"""Each rule finds the mistake that it is there for, in a small tree, and only that."""
import circles
import pytest
import rules

pytestmark = [pytest.mark.group('static'), pytest.mark.limit(60)]

SPDX = '// SPDX-License-Identifier: GPL-2.0-or-later\n'
SHELL = '#!/bin/bash\n# SPDX-License-Identifier: GPL-2.0-or-later\n'
GLOSSARY = '''\
| Term | Meaning |
|---|---|
| good | fine |

## Not used

| Not used | Used |
|---|---|
| grumble, mutter | said |
| sour grape | the plain fact |
'''
# rule, name of a file, what is wrong in it, the same in order
SAMPLES = (
    (rules.spdx, 'driver/a.c', 'int a;\n', SPDX + 'int a;\n'),
    (rules.spdx, 'tool', '#!/bin/sh\nexit\n', '#!/bin/sh\n# SPDX-License-Identifier: MIT\nexit\n'),
    (rules.machine_paths, 'a.py', "x = '/home/somebody'\n", "x = '/usr/share'\n"),
    (rules.machine_paths, 'a.md', 'see http://mirror.example.org/x\n', 'see http://example.org/x\n'),
    (rules.version_tests, 'driver/a.c', '#if LINUX_VERSION_CODE > 3\n', '#ifdef HAVE_A\n'),
    (rules.version_tests, 'tests/k/a.h', 'x = KERNEL_VERSION(6, 1, 0);\n', 'x = MY_VERSION(6);\n'),
    (rules.version_tests, 'driver/b.h', '#if LINUX_VERSION_MAJOR > 5\n', '#ifdef HAVE_B\n'),
    (rules.version_tests, 'kunit/c.c', '#ifdef RHEL_RELEASE_CODE\n', '#ifdef HAVE_C\n'),
    (rules.version_tests, 'tests/k.mk', 'ifeq ($(VERSION),6)\n', 'ifeq ($(KASAN),y)\n'),
    (rules.version_tests, 'driver/Kbuild', 'ifeq ($(PATCHLEVEL),1)\n', 'ifeq ($(KASAN),1)\n'),
    (rules.own_rate_limits, 'driver/a.c', 'dev_warn_ratelimited(d, "x");\n', 'dev_warn(d, "x");\n'),
    (rules.defined_twice, 'driver/a.h', 'struct s {\n};\nstruct s {\n};\n', 'struct s {\n};\n'),
    (rules.layers, 'qemu-model/core/qp/a.c', '#include "qemu/osdep.h"\n', '#include "erdma/a.h"\n'),
    (rules.layers, 'driver/a.c', '#include "../eadm/a.h"\n', '#include "erdma.h"\n'),
    (rules.layers, 'include/erdma/a.h', '#include <linux/list.h>\n', '#include <linux/types.h>\n'),
    (rules.unfinished, 'eadm/a.c', '/* TODO: later */\n', '/* done */\n'),
    (rules.tap_parsers, 'tests/a.py', "R = re.compile(r'^(not )?ok (.*)')\n", "print('not ok 1')\n"),
    (rules.tap_parsers, 'tests/b.py', "if line.startswith('not ok'):\n", "say('not ok', n)\n"),
    (rules.tap_parsers, 'tests/c.sh', "grep -q '^not ok' log\n", 'echo "not ok $n"\n'),
    (rules.tap_parsers, 'tests/d.sh', "case $l in\n'not ok '*) bad ;;\n", 'echo "not ok $n"\n'),
    (rules.tap_parsers, 'tests/e.c', 'if (!strncmp(line, "not ok", 6))\n', 'puts("not ok 1");\n'),
    (rules.tap_parsers, 'tests/lib/other.py', "if 'not ok' in line:\n", "x = 'not ok'\n"),
    (rules.tap_parsers, 'tests/f.py', "re.search(r'^ok 1 - (.*)$', text)\n", "print('ok 1 - a')\n"),
    (rules.tap_parsers, 'tests/g.py', "assert '\\nok 1 - ' in text\n", "say('\\nok 1 - a')\n"),
    (rules.tap_parsers, 'tests/h.py', "if line[:3] == 'ok ':\n", "if line == 'okay':\n"),
    (rules.tap_parsers, 'tests/i.py', "n += 'ok 1 - ' not in text\n", "text = 'ok 1 - a'\n"),
)


def tree(top, **more):
    """A small tree without a mistake."""
    for name, text in {'VERSION': '1.2.3\n', 'CHANGELOG.md': '1.2.3\n',
                       'docs/glossary.md': GLOSSARY, **more}.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding='utf-8')
    return top


@pytest.mark.parametrize('number', range(len(SAMPLES)))
def test_rule_finds_its_mistake(number, tmp_path):
    rule, name, bad, good = SAMPLES[number]
    assert rule(tree(tmp_path / 'good', **{name: good})) == []
    found = rule(tree(tmp_path / 'bad', **{name: bad}))
    assert len(found) == 1 and name in found[0]


@pytest.mark.parametrize('rule, name, text', (
    (rules.version_tests, 'driver/compat/a.h', '#if LINUX_VERSION_CODE\n'),
    (rules.tap_parsers, 'tests/lib/tap.py', "re.compile(r'(not )?ok')\n")))
def test_the_one_place_is_allowed(rule, name, text, tmp_path):
    assert rule(tree(tmp_path / 'here', **{name: text})) == []
    assert len(rule(tree(tmp_path / 'elsewhere', **{'tests/a.h': text}))) == 1


@pytest.mark.parametrize('line', (
    'int grumble_count;', 'doGrumbleNow()', 'ERDMA_MUTTER', 'They Mutter.', 'a sour grape'))
def test_glossary_finds_a_word(line, tmp_path):
    found = rules.glossary(tree(tmp_path, **{'eadm/a.c': f'fine\n{line}\n'}))
    assert len(found) == 1 and found[0].startswith('eadm/a.c:2: ')


def test_glossary_reads_names_of_files(tmp_path):
    assert len(rules.glossary(tree(tmp_path, **{'eadm/cmd_grumble.c': 'fine\n'}))) == 1


@pytest.mark.parametrize('name', ('docs/glossary.md', 'docs/results/a.md', 'CHANGELOG.md',
                                  'LICENSES/a', 'tests/cli/golden/a.txt'))
def test_glossary_leaves_out(name, tmp_path):
    assert rules.glossary(tree(tmp_path, **{name: GLOSSARY})) == []


@pytest.mark.parametrize('line', ('grumbler', 'ungrumble', 'sour grapes', 'sourgrape'))
def test_glossary_means_whole_words(line, tmp_path):
    assert rules.glossary(tree(tmp_path, **{'eadm/a.c': line})) == []


def test_glossary_needs_its_table(tmp_path):
    assert rules.glossary(tree(tmp_path, **{'docs/glossary.md': '# Glossary\n'}))


def test_version_is_in_one_file(tmp_path):
    assert rules.one_version(tree(tmp_path / 'good')) == []
    top = tree(tmp_path / 'bad', **{'eadm/a.c': 'x = "1.2.3";\n', 'CHANGELOG.md': 'none\n'})
    assert len(rules.one_version(top)) == 2


def test_shell_lines_are_counted(tmp_path):
    assert rules.shell_lines(tree(tmp_path / 'a', **{'tests/a.sh': SHELL + 'x\n' * 298})) == []
    found = rules.shell_lines(tree(tmp_path / 'b', **{
        'tests/a.sh': SHELL + 'x\n' * 200, 'tests/run': SHELL + 'x\n' * 97,
        'tests/cli/a.bats': SHELL + 'x\n' * 2000}))
    assert len(found) == 1 and found[0].startswith('301 lines of shell in tests/')
    found = rules.shell_lines(tree(tmp_path / 'c', **{'tools/a.sh': SHELL + 'x\n' * 1499}))
    assert len(found) == 1 and found[0].startswith('1501 lines of shell in the tree')


def test_example_that_no_test_runs(tmp_path):
    readme = {'tests/README.md': 'x\n```python\nimport a\n\na.go()\n```\n'}
    same = {'tests/vm/test_example.py': '"""Text."""\nimport a\n\na.go()\n'}
    other = {'tests/vm/test_example.py': 'import a\n\na.stop()\n'}
    assert rules.guide_example(tree(tmp_path / 'good', **readme, **same)) == []
    assert len(rules.guide_example(tree(tmp_path / 'bad', **readme, **other))) == 1
    assert len(rules.guide_example(tree(tmp_path / 'none', **same, **{
        'tests/README.md': 'no example\n'}))) == 1


def test_two_test_modules_of_one_name(tmp_path):
    one = {'tests/vm/test_a.py': SHELL, 'tests/vm/a.py': SHELL, 'tests/unit/a.py': SHELL}
    assert rules.module_names(tree(tmp_path / 'good', **one)) == []
    found = rules.module_names(tree(tmp_path / 'bad', **one, **{'tests/unit/b/test_a.py': SHELL}))
    assert len(found) == 1 and 'tests/unit/b/test_a.py' in found[0]


STATIC = '''\
static int __attribute__((format(printf, 1, 2)))
leave(Qp *qp,
      int step)
{
    return step;
}
'''


def test_static_function_of_the_model_in_two_files(tmp_path):
    one = {'qemu-model/core/qp/a.c': STATIC, 'driver/b.c': STATIC,
           'qemu-model/core/c.c': 'static int leave(Qp *qp);\nint x = leave(0);\n'}
    assert rules.static_names(tree(tmp_path / 'good', **one)) == []
    found = rules.static_names(tree(tmp_path / 'bad', **one, **{
        'qemu-model/core/wire/d.c': STATIC}))
    assert found == ['leave: qemu-model/core/qp/a.c qemu-model/core/wire/d.c']


def ring_of(count):
    """COUNT files of a driver, each calling the next."""
    return {f'driver/f{i}.c': f'void f{i}(void)\n{{\n\tf{(i + 1) % count}();\n}}\n'
            for i in range(count)}


def test_circle_is_found(tmp_path):
    for count in (circles.LIMIT, circles.LIMIT + 1):
        names = circles.driver_names(str(tree(tmp_path / str(count), **ring_of(count))))
        found = circles.find_circles(names)
        assert [len(c) for c in found] == [count]
    assert 'driver/f3.c -> driver/f4.c: f4' in circles.describe(names, found[0])


def test_files_in_a_row_are_no_circle(tmp_path):
    files = ring_of(12)
    files['driver/f11.c'] = 'void f11(void)\n{\n}\n'
    assert circles.find_circles(circles.driver_names(str(tree(tmp_path, **files)))) == []


def test_use_of_a_higher_folder_is_found():
    low, high = 'qemu-model/core/base/a.c', 'qemu-model/core/qp/b.c'
    assert circles.find_upward({low: ({'a'}, set()), high: ({'b'}, {'a'})}) == []
    assert len(circles.find_upward({low: ({'a'}, {'b'}), high: ({'b'}, set())})) == 1
