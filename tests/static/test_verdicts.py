# SPDX-License-Identifier: GPL-2.0-or-later
"""Each rule of eadm has a test in a VM in which its real cause makes the verdict."""
import ast
import os
import re

from lib import runbooks
from lib.paths import TOP

#: The calls of tests/vm/lib/verdicts.py whose second argument is a rule.
CALLS = {'has', 'is_verdict', 'doctor_has'}
#: Rules without such a test, and why.
EXCEPT = {
    'cm-qp-stopped': 'a queue pair that stops between two steps is a matter of chance',
    'cm-no-memory': 'nothing makes the kernel run out of memory in one place',
    'local-stuck': 'the model executes what needs no peer at once, whatever is stalled',
    'one-moment': 'a snapshot of eadm has three: tests/cli/why.bats leaves two out',
}


def words_of(tree):
    """Texts in calls of CALLS, and in those of parametrize() with a parameter "rule"."""
    found = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, 'id', getattr(node.func, 'attr', ''))
        if name in CALLS and len(node.args) > 1:
            found |= {x.value for x in ast.walk(node.args[1]) if isinstance(x, ast.Constant)}
        elif name == 'parametrize' and 'rule' in str(ast.unparse(node.args[0])):
            found |= {x.value for x in ast.walk(node) if isinstance(x, ast.Constant)}
    return {x for x in found if isinstance(x, str)}


def called_for():
    """What tests/vm/test_why*.py calls for."""
    folder = os.path.join(TOP, 'tests/vm')
    found = set()
    for name in os.listdir(folder):
        if re.fullmatch(r'test_why\w*\.py', name):
            with open(os.path.join(folder, name), encoding='utf-8') as f:
                found |= words_of(ast.parse(f.read()))
    return found


def rules():
    return {name for name, _level in runbooks.rules().values()}


def test_each_rule_has_a_test_with_its_cause():
    missing = rules() - called_for() - set(EXCEPT)
    assert not missing, f'no test in tests/vm/test_why*.py makes {sorted(missing)}'


def test_exceptions_are_rules_without_a_test():
    assert set(EXCEPT) <= rules()
    assert not set(EXCEPT) & called_for()


def test_what_is_no_call_does_not_count():
    tree = ast.parse("has_not(vm, 'idle')\nhas(vm, 'works', 'card')\nx = 'closed'")
    assert words_of(tree) == {'works'}
