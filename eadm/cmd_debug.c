// SPDX-License-Identifier: GPL-2.0-or-later
/* The driver's messages: categories and levels. */
#include <errno.h>
#include <string.h>

#include "cmd.h"
#include "decode.h"
#include "schema.h"

#define DEFAULT_MS (10 * 60 * 1000)

struct debug_run {
	bool dry_run;
	uint64_t ms;
	uint32_t show;			/* categories, 0 = all */
	uint32_t to_default;		/* categories to put back */
	uint32_t mask[ERDMA_DIAG_LEVEL_COUNT];	/* categories to set to each level */
};

static const char *const cat_names[] = {
#define CAT_NAME(id, name, text) [id] = name,
	ERDMA_DIAG_DEBUG_CATS(CAT_NAME)
};

static const char *const cat_texts[] = {
#define CAT_TEXT(id, name, text) [id] = text,
	ERDMA_DIAG_DEBUG_CATS(CAT_TEXT)
};

static const char *const level_names[] = {
#define LEVEL_NAME(id, name, text) [id] = name,
	ERDMA_DIAG_DEBUG_LEVELS(LEVEL_NAME)
};

#define N_CATS		(COUNT_OF(cat_names))
#define N_LEVELS	(COUNT_OF(level_names))

/* ---- CATEGORY=LEVEL,... ------------------------------------------------- */

static int find_word(const char *const *words, size_t n, const char *w)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!strcmp(words[i], w))
			return (int)i;
	return -1;
}

static int find_category(struct ctx *c, const char *name, uint32_t *mask)
{
	int cat = find_word(cat_names, N_CATS, name);
	const char *hint;

	*mask = cat < 0 ? (1U << N_CATS) - 1 : 1U << cat;
	if (cat >= 0 || !strcmp(name, "all"))
		return 0;
	hint = nearest_word(&c->pool, name, cat_names, N_CATS);
	return ctx_usage(c, hint ? hint : "'eadm debug-level' shows all categories.",
			 "no category '%s'", name);
}

/* CATEGORY=LEVEL sets, CATEGORY shows; a later item changes what an earlier one said */
static int parse_item(struct ctx *c, char *item, struct debug_run *run)
{
	char *eq = strchr(item, '=');
	int level = -1;
	uint32_t l, mask;

	if (eq) {
		*eq++ = '\0';
		level = find_word(level_names, N_LEVELS, eq);
		if (level < 0 && strcmp(eq, "default"))
			return ctx_usage(c, "levels: off, err, info, dbg, trace, default",
					 "no level '%s'", eq);
	}
	if (find_category(c, item, &mask))
		return -EINVAL;
	if (!eq) {
		run->show |= mask;
		return 0;
	}
	for (l = 0; l < N_LEVELS; l++)
		run->mask[l] &= ~mask;
	run->to_default &= ~mask;
	*(level < 0 ? &run->to_default : &run->mask[level]) |= mask;
	return 0;
}

/* Categories to set to a level */
static uint32_t levels_set(const struct debug_run *run)
{
	uint32_t l, mask = 0;

	for (l = 0; l < N_LEVELS; l++)
		mask |= run->mask[l];
	return mask;
}

static int parse_levels(struct ctx *c, const char *spec, struct debug_run *run)
{
	char *copy = pool_strdup(&c->pool, strcmp(spec, "none") ? spec : "all=default");
	char *item, *save;
	int ret = 0;

	for (item = strtok_r(copy, ",", &save); item && !ret; item = strtok_r(NULL, ",", &save))
		ret = parse_item(c, item, run);
	if (!ret && run->show && (run->to_default || levels_set(run)))
		return ctx_usage(c, "'debug-level cm' shows, 'debug-level cm=dbg' sets.",
				 "either show categories or set them");
	return ret;
}

/* ---- calls -------------------------------------------------------------- */

static void level_word(struct obj *o, unsigned int field, uint32_t level)
{
	decode_name(o, field, level < N_LEVELS ? level_names[level] : NULL, level);
}

static void add_rows(struct ctx *c, struct dev *dev, const struct erdma_diag_debug *d,
		     const struct erdma_diag_debug *before, uint32_t show)
{
	struct obj *o;
	uint32_t i;

	for (i = 0; i < d->out_count; i++) {
		if (show && !(show >> i & 1))
			continue;
		o = obj_new(&c->pool, &schema_debug);
		obj_str(o, DB_DEV, dev_title(dev));
		if (dev->index >= 0)
			obj_u64(o, DB_INDEX, (uint64_t)dev->index);
		decode_name(o, DB_CATEGORY, i < N_CATS ? cat_names[i] : NULL, i);
		if (i < N_CATS)
			obj_str(o, DB_TEXT, cat_texts[i]);
		level_word(o, DB_LEVEL, d->out_level[i]);
		level_word(o, DB_DEFAULT, d->out_default[i]);
		if (d->out_left_ms[i])
			obj_u64(o, DB_LEFT, d->out_left_ms[i] * 1000000ULL);
		obj_u64(o, DB_CHANGED, d->out_level[i] != before->out_level[i]);
		obj_u64(o, DB_PRINTED, d->out_printed);
		obj_u64(o, DB_SUPPRESSED, d->out_suppressed);
		ctx_add(c, o);
	}
	if (d->out_suppressed)
		ctx_note(c, "SUPPRESSED", dev_title(dev), "%llu messages were not printed because "
			 "there were too many", (unsigned long long)d->out_suppressed);
}

/* What the levels would be */
static void pretend(struct erdma_diag_debug *d, uint32_t mask, uint32_t level, uint32_t ms)
{
	uint32_t i;

	for (i = 0; i < d->out_count; i++)
		if (mask >> i & 1) {
			d->out_level[i] = (uint8_t)level;
			d->out_left_ms[i] = level == d->out_default[i] ? 0 : ms;
		}
}

static int set_level(struct ctx *c, struct dev *dev, const struct debug_run *run,
		     struct erdma_diag_debug *d, uint32_t mask, uint32_t level, uint32_t ms)
{
	struct erdma_diag_debug call = { .flags = ERDMA_DIAG_DEBUG_SET, .mask = mask,
					 .level = level, .duration_ms = ms };
	int ret;

	if (!mask)
		return 0;
	if (run->dry_run) {
		pretend(d, mask, level, ms);
		return 0;
	}
	ret = source_debug(&c->src, dev, &call);
	if (!ret)
		*d = call;
	return ret;
}

static int set_defaults(struct ctx *c, struct dev *dev, const struct debug_run *run,
			struct erdma_diag_debug *d)
{
	const struct erdma_diag_debug now = *d;
	uint32_t i;
	int ret = 0;

	for (i = 0; !ret && i < now.out_count; i++)
		if (run->to_default >> i & 1 && now.out_level[i] != now.out_default[i])
			ret = set_level(c, dev, run, d, 1U << i, now.out_default[i], 0);
	return ret;
}

static int debug_dev(struct ctx *c, struct dev *dev, void *arg)
{
	const struct debug_run *run = arg;
	struct erdma_diag_debug d = { 0 }, before;
	uint32_t level;
	int ret = source_debug(&c->src, dev, &d);

	before = d;
	if (!ret && run->to_default)
		ret = set_defaults(c, dev, run, &d);
	for (level = 0; !ret && level < N_LEVELS; level++)
		ret = set_level(c, dev, run, &d, run->mask[level], level, (uint32_t)run->ms);
	if (ret)
		return ctx_call_failed(c, dev, ret, TARGET_DEBUG, 0);
	add_rows(c, dev, &d, &before, run->show);
	return 0;
}

/**
 * cmd_debug_level - show or set the levels of the driver's messages
 * @c: run
 * @a: arguments
 *
 * Return: 0, or a negative error number after reporting it.
 */
int cmd_debug_level(struct ctx *c, const struct args *a)
{
	struct debug_run run = { .ms = DEFAULT_MS, .dry_run = a->opt[OPT_DRY_RUN] };
	const char *how_long = a->opt[OPT_FOR];
	bool set;
	int ret;

	if (how_long && !strcmp(how_long, "0"))
		run.ms = 0;
	else if (how_long && (!parse_duration(how_long, &run.ms) ||
			      run.ms > ERDMA_DIAG_DEBUG_MAX_MS))
		return ctx_usage(c, "up to 24h: --for 10m, --for 90s; 0 = never back.",
				 "bad duration '%s'", how_long);
	ret = a->n ? parse_levels(c, a->v[0], &run) : 0;
	if (ret)
		return ret;
	set = run.to_default || levels_set(&run);
	if (how_long && !levels_set(&run) && set)
		return ctx_usage(c, "leave it out.", "option --for has no effect on 'default'");
	if ((how_long || run.dry_run) && !set)
		return ctx_usage(c, "eadm debug-level cm=dbg --for 10m",
				 "nothing to set: name a category and a level");
	return ctx_each_dev(c, DEVS_NODE | (set ? 0 : DEVS_MANY), debug_dev, &run);
}
