// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer on the files of "eadm --from": each input is a file, which a command reads
 * and shows. The last byte says which command, so that a file is a seed as it is.
 */
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "emit.h"
#include "source_file.h"

static const char *const lines[][5] = {
	{ "list", "dev" }, { "list", "qp" }, { "list", "cq" }, { "list", "eq" },
	{ "info", "dev" }, { "info", "qp", "0-4294967295" }, { "info", "cq", "0-4294967295" },
	{ "info", "eq", "1" }, { "info", "eq", "aeq" }, { "info", "cmdq" },
	{ "dump", "qp" }, { "dump", "qp", "0-4294967295", "--last", "99" },
	{ "dump", "cq", "0-4294967295" }, { "dump", "eq", "1" }, { "dump", "eq", "aeq" },
	{ "dump", "cmdq" }, { "stat" }, { "debug-level" }, { "ver" },
	{ "list", "qp", "-vv" }, { "list", "mr", "-vv" }, { "list", "pd" }, { "list", "ctx", "-v" },
	{ "list", "cm", "-v" }, { "log", "-v" }, { "info", "cmdq", "-v" },
	{ "dump", "qp", "0-4294967295", "--hex", "-v" }, { "dump", "cmdq", "--last", "99", "-v" },
	{ "stat", "--style", "vendor" }, { "why" }, { "why", "0-4294967295" },
	{ "doctor" },
};

#define N_LINES	(sizeof(lines) / sizeof(lines[0]))
#define WORDS	16

static FILE *nowhere;

static void run(struct ctx *c, const uint8_t *data, size_t size)
{
	uint8_t *file = pool_alloc(&c->pool, size);
	const char *const *line = lines[data[size - 1] % N_LINES];
	char *argv[WORDS] = { (char *)"eadm" };
	struct args a = { 0 };
	struct snap_in *in;
	int argc = 1, i;

	if (data[size - 1] & 0x80)
		argv[argc++] = (char *)"-j";
	for (i = 0; i < 5 && line[i]; i++)
		argv[argc++] = (char *)line[i];
	if (cmd_parse(c, argc, argv, &a))
		abort();
	memcpy(file, data, size);
	source_init(&c->src, &c->pool);
	in = snap_parse(&c->pool, file, size);
	if (!in)
		return;
	source_from_snapshot(&c->src, in);
	c->cmd->run(c, &a);
	emit_document(c);
	emit_problems(c, stderr);
	source_close(&c->src);
}

const char *__asan_default_options(void);

/* Freed memory that is in use again soon stays in the cache: three times as many inputs */
const char *__asan_default_options(void)
{
	return "quarantine_size_mb=8:malloc_context_size=3";
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ctx c = { 0 };

	if (!nowhere)
		nowhere = fopen("/dev/null", "w");
	if (!nowhere || !size)
		return 0;
	c.out = nowhere;
	c.opt.timeout_ms = 5000;
	c.opt.device = "all";
	c.opt.format = data[size - 1] & 0x80 ? FMT_JSON : FMT_TEXT;
	run(&c, data, size);
	pool_free(&c.pool);
	return 0;
}
