# SPDX-License-Identifier: GPL-2.0-or-later
# What the command-line tests of eadm share. Sourced by each *.bats file.

bats_require_minimum_version 1.5.0

TOP=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
EADM=$TOP/eadm/eadm
FAKE=$TOP/eadm/build/eadm-fake
SCENARIOS=$TOP/eadm/build/scenarios
export LC_ALL=C
unset EADM_DEVICE NO_COLOR EADM_SYSFS EADM_DEVROOT EADM_MODULES EADM_ROOT

# fake SCENARIO ARG...: eadm on adapters out of a scenario, with sanitizers. With VIA_FILE=1 a
# snapshot of them is taken, and read by a program that knows no scenario: by READER, the words
# of a command, if there are any. What NEXT says of the file is left out: where it is to be taken.
fake()
{
	local scenario=$1 file=$BATS_TEST_TMPDIR/snapshot reader
	shift
	if [ -z "${VIA_FILE-}" ]; then
		EADM_SCENARIO=$SCENARIOS/$scenario.json "$FAKE" "$@"
		return
	fi
	EADM_SCENARIO=$SCENARIOS/$scenario.json "$FAKE" snapshot --write "$file" >/dev/null 2>&1 || true
	if [ -e "$file" ]; then set -- --from "$file" "$@"; fi
	read -ra reader <<< "${READER-$FAKE}"
	"${reader[@]}" "$@" | sed -e 's/"kind":"file"/"kind":"fake"/' -e "s| --from $file||g" \
		-e "s|on the host of $file: ||g"
	return "${PIPESTATUS[0]}"
}

# expect STATUS SCENARIO ARG...: run and check the exit status
expect()
{
	local want=$1
	shift
	run --separate-stderr fake "$@"
	show
	[ "$status" -eq "$want" ]
}

# What a failing test prints
show()
{
	printf '# exit %s\n# stdout: %s\n# stderr: %s\n' "$status" "$output" "${stderr-}"
}

# golden NAME SCENARIO ARG...: standard output must be that of golden/NAME;
# UPDATE_GOLDEN=1 writes it instead
golden()
{
	local file=$BATS_TEST_DIRNAME/golden/$1
	shift
	if [ -n "${UPDATE_GOLDEN-}" ]; then
		fake "$@" > "$file" 2>/dev/null || true
		return
	fi
	fake "$@" 2>/dev/null > "$BATS_TEST_TMPDIR/got" || true
	diff -u "$file" "$BATS_TEST_TMPDIR/got"
}

# golden_json NAME SCENARIO ARG...: the same for JSON, a member per line; jq would round
# numbers above 2^53
golden_json()
{
	local file=$BATS_TEST_DIRNAME/golden/$1
	shift
	fake "$@" -j 2>/dev/null | "$BATS_TEST_DIRNAME/layout.py" > "$BATS_TEST_TMPDIR/got"
	if [ -n "${UPDATE_GOLDEN-}" ]; then
		cp "$BATS_TEST_TMPDIR/got" "$file"
		return
	fi
	diff -u "$file" "$BATS_TEST_TMPDIR/got"
}
