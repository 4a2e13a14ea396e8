# SPDX-License-Identifier: GPL-2.0-or-later
"""Rules about the text of the files, and about what they say of each other."""
import circles
import docs_lines
import pytest
import rules
import safety
import traps
from tree import TOP

pytestmark = [pytest.mark.group('static'), pytest.mark.limit(900)]


def silent(found):
    """A check reports what it found; nothing found is good."""
    if found:
        more = [f'... and {len(found) - 25} more'] if len(found) > 25 else []
        pytest.fail('\n'.join([*found[:25], *more]), pytrace=False)


def test_spdx_line_at_the_top_of_every_file():
    silent(rules.spdx(TOP))


def test_no_path_or_name_of_one_machine():
    silent(rules.machine_paths(TOP))


def test_no_kernel_version_tests_outside_driver_compat():
    silent(rules.version_tests(TOP))


def test_no_message_has_a_rate_limit_of_its_own():
    silent(rules.own_rate_limits(TOP))


def test_nothing_is_defined_twice():
    silent(rules.defined_twice(TOP))


def test_static_function_of_the_model_has_one_place():
    silent(rules.static_names(TOP))


def test_parts_include_only_what_they_may():
    silent(rules.layers(TOP))


def test_nothing_unfinished():
    silent(rules.unfinished(TOP))


def test_one_version():
    silent(rules.one_version(TOP))


def test_no_word_that_the_glossary_replaced():
    silent(rules.glossary(TOP))


def test_one_tap_parser():
    silent(rules.tap_parsers(TOP))


def test_example_of_the_guide_is_a_test():
    silent(rules.guide_example(TOP))


def test_no_two_test_modules_of_one_name():
    silent(rules.module_names(TOP))


def test_few_lines_of_shell():
    silent(rules.shell_lines(TOP))


def test_every_trap_of_appendix_b_has_its_test():
    silent(traps.problems())


def test_every_row_of_the_safety_table_has_test_and_mutant():
    silent(safety.problems())


def test_lines_in_the_documentation_name_what_exists():
    silent(docs_lines.problems())


def test_make_help_names_every_target():
    silent(docs_lines.without_help())


def test_who_says_what_make_check_runs_names_its_groups():
    silent(docs_lines.without_groups())


def test_guide_names_the_group_of_each_test():
    silent(docs_lines.other_groups())


def test_links_of_the_documents_lead_somewhere():
    silent(docs_lines.dead_links())


def test_every_document_is_in_the_table_of_documents():
    silent(docs_lines.unlisted())


@pytest.mark.parametrize('part', ('model', 'driver'))
def test_no_large_circle_of_files(part):
    names = circles.model_names() if part == 'model' else circles.driver_names()
    silent([circles.describe(names, c) for c in circles.find_circles(names)
            if len(c) > circles.LIMIT] + circles.find_upward(names))
