// SPDX-License-Identifier: GPL-2.0-or-later
/* The next step of a finding, so that its commands work where they are read: NEXT. */
#include <string.h>

#include "step.h"
#include "why.h"

#define BETWEEN		"; "	/* of the parts of a step */
#define EADM		"eadm "

/* Programs that steps begin with. Anything else is prose, which names no host's shell */
static const char *const programs[] = {
	"apt", "cat", "dkms", "dmesg", "echo", "free", "fuser", "grep", "ibv_devices", "ip",
	"journalctl", "kill", "ls", "modinfo", "modprobe", "ping", "rdma", "ss", "sysctl",
	"systemctl", "ulimit",
};

/* What is in front of a command */
static const char *const links[] = { "then ", "else ", "or " };

/* A part that says itself where it is to be taken */
static const char *const elsewhere[] = { " at the other end", " on both hosts" };

/* Options for which a command needs a kernel, although it takes a file */
static const char *const live[] = { " -i ", " -l", " --follow" };

static bool has_any(const char *part, const char *const *words, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (strstr(part, words[i]))
			return true;
	return false;
}

static bool begins(const char *text, const char *word)
{
	return !strncmp(text, word, strlen(word));
}

static bool is_program(const char *part)
{
	size_t i, len = strcspn(part, " ,");

	for (i = 0; i < COUNT_OF(programs); i++)
		if (strlen(programs[i]) == len && !strncmp(part, programs[i], len))
			return true;
	return false;
}

/* "kill -CONT 143"; "the stack of app[143]: cat /proc/143/stack" */
static bool is_command(const char *part)
{
	const char *colon = NULL, *s = part;

	while ((s = strstr(s, ": ")))
		colon = s += 2;
	return is_program(part) || (colon && is_program(colon));
}

static size_t link_len(const char *part)
{
	size_t i;

	for (i = 0; i < COUNT_OF(links); i++)
		if (begins(part, links[i]))
			return strlen(links[i]);
	return 0;
}

/* The command of eadm that a part of a step is; NULL: it is none, or one of another host */
static const struct cmd *step_cmd(struct pool *p, const char *part)
{
	char *verb, *object, *rest;

	if (!begins(part, EADM) || has_any(part, elsewhere, COUNT_OF(elsewhere)))
		return NULL;
	verb = strtok_r(pool_strdup(p, part + strlen(EADM)), " ", &rest);
	object = strtok_r(NULL, " ", &rest);
	return verb ? cmd_find(verb, object) : NULL;
}

/* ---- where --------------------------------------------------------------------- */

/**
 * struct where - where a step is to be taken
 * @c: run
 * @dev: device that it is about, or NULL
 * @file: snapshot file that the evidence is from, NULL: this host
 * @host: what its host is called, NULL: this host
 * @all: prose is for this host, too
 * @said: the part in front was for it
 */
struct where {
	struct ctx *c;
	const struct dev *dev;
	const char *file;
	const char *host;
	bool all;
	bool said;
};

static bool is_one_of_several(const struct where *w)
{
	const struct dev *d = w->c->src.devs;
	unsigned int n = 0;

	for (; w->dev && d; d = d->next)
		n += d->file == w->dev->file;
	return n > 1;
}

/* As the file has it: of several files names begin with that of the file */
static const char *device_name(const struct where *w)
{
	const char *name = dev_title(w->dev), *colon = strrchr(name, ':');

	return w->c->files && w->dev->name[0] && colon ? colon + 1 : name;
}

/* A name as one word of a shell */
static const char *quoted(struct pool *p, const char *name)
{
	static const char safe[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				   "0123456789_./:@%+,=-";
	const char *text = "'";

	if (*name && strspn(name, safe) == strlen(name))
		return name;
	for (; *name; name++)
		text = pool_printf(p, *name == '\'' ? "%s'\\''" : "%s%c", text, *name);
	return pool_printf(p, "%s'", text);
}

static const char *on_host(struct where *w, const char *link, const char *part)
{
	bool said = w->said;

	w->said = true;
	return said ? pool_printf(&w->c->pool, "%s%s", link, part) :
	       pool_printf(&w->c->pool, "%son the host of %s: %s", link, w->host, part);
}

/* A command of eadm asks the device that it is about, in the file that has it */
static const char *eadm_part(struct where *w, const struct cmd *cmd, const char *link,
			     const char *part)
{
	bool reads = cmd->takes & TAKES_FILE && !has_any(part, live, COUNT_OF(live));
	struct pool *p = &w->c->pool;
	const char *opts = "";

	if (!(cmd->takes & TAKES_DEV))
		return pool_printf(p, "%s%s", link, part);
	if (w->file && reads)
		opts = pool_printf(p, "--from %s ", quoted(p, w->file));
	if (is_one_of_several(w) && !strstr(part, " -d "))
		opts = pool_printf(p, "%s-d %s ", opts, device_name(w));
	part = pool_printf(p, EADM "%s%s", opts, part + strlen(EADM));
	if (w->file && !reads)
		return on_host(w, link, part);
	w->said = false;
	return pool_printf(p, "%s%s", link, part);
}

static const char *part_text(struct where *w, const char *text)
{
	size_t len = link_len(text);
	const char *part = text + len, *link = pool_printf(&w->c->pool, "%.*s", (int)len, text);
	const struct cmd *cmd = step_cmd(&w->c->pool, part);

	if (cmd)
		return eadm_part(w, cmd, link, part);
	if (!w->host || has_any(part, elsewhere, COUNT_OF(elsewhere)))
		return text;
	return w->all || is_command(part) ? on_host(w, link, part) : text;
}

/**
 * step_text - the next step of a finding, as it is shown
 * @c: run
 * @n: finding
 *
 * Of one of several devices the commands of eadm have -d. If the evidence is a file, those that
 * read have --from, and what is to be done on the host of the file says so.
 *
 * Return: text.
 */
const char *step_text(struct ctx *c, const struct finding *n)
{
	struct where w = { .c = c, .dev = n->dev, .file = c->opt.from, .all = n->place };
	char *text = pool_strdup(&c->pool, n->step), *end;
	const char *all = "", *between = "";

	if (c->files && n->dev)
		w.file = c->files[n->dev->file];
	w.host = n->place ? n->place : w.file;
	for (; text; text = end) {
		end = strstr(text, BETWEEN);
		if (end) {
			*end = '\0';
			end += strlen(BETWEEN);
		}
		all = pool_printf(&c->pool, "%s%s%s", all, between, part_text(&w, text));
		between = BETWEEN;
	}
	return all;
}
