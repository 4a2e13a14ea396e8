// SPDX-License-Identifier: GPL-2.0-or-later
/* What is wrong with the adapters of a host, and with the host itself? By every rule. */
#include <string.h>

#include "schema.h"
#include "why.h"

static bool add_adapter(struct inquiry *q, const struct dev *dev)
{
	struct findings f = { .c = q->c, .dev = dev };

	if (!judge_adapter(q->c, dev, &f))
		return false;
	why_add(q, why_object(q, dev, "adapter"), &f);
	return true;
}

static int examine_dev(struct ctx *c, struct dev *dev, void *arg)
{
	struct collect *l = arg;
	int ret;

	if (add_adapter(collect_inquiry(l), dev))
		return 0;
	ret = ctx_open_dev(c, dev);
	return ret ? ret : collect_dev(c, dev, l);
}

static void add_host(struct inquiry *q)
{
	struct findings f = { .c = q->c };

	judge_host(q, &f);
	why_add(q, why_object(q, NULL, "this host"), &f);
}

static int unknown_rule(struct ctx *c, const char *name)
{
	const char *names[RULE_COUNT], *hint;
	size_t i, n = 0;

	for (i = 0; i < RULE_COUNT; i++)
		if (rule_is_bad(&rules[i]))
			names[n++] = rules[i].name;
	hint = nearest_word(&c->pool, name, names, n);
	return ctx_usage(c, hint ? hint : "'eadm doctor --list' shows all of them.",
			 "doctor has no rule '%s'", name);
}

/* "no-address,link-down": the rules that are asked about */
static int only_rules(struct ctx *c, const char *text, const bool **only)
{
	bool *wanted = pool_alloc(&c->pool, RULE_COUNT * sizeof(*wanted));
	char *words = pool_strdup(&c->pool, text), *word, *rest;
	const struct rule *r;

	for (word = strtok_r(words, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
		r = rule_called(word);
		if (!r || !rule_is_bad(r))
			return unknown_rule(c, word);
		wanted[r - rules] = true;
		*only = wanted;
	}
	return *only ? 0 : unknown_rule(c, text);
}

/* What "explain rule" shows of them */
static int list_rules(struct ctx *c)
{
	char *words[] = { "rule" };
	const struct args a = { .v = words, .n = 1 };
	struct obj *o, *next;
	int ret;

	c->cmd = cmd_find("explain", NULL);
	ret = c->cmd->run(c, &a);
	o = c->data.first;
	for (c->data = (struct list){ 0 }; o; o = next) {
		const struct rule *r = rule_called(obj_get_str(o, EX_WORD, ""));

		next = o->next;
		o->next = NULL;
		if (r && rule_is_bad(r))
			list_add(&c->data, o);
	}
	return ret;
}

/*
 * One that is bound to another driver, as for pass-through, will not get a device. The node
 * comes after the RDMA device, and goes before it: while an adapter is unbound, there is still
 * the device, and neither its node nor the name of its driver.
 */
static bool may_come_up(const struct dev *d)
{
	if (d->state == DEV_NO_RDMA || d->state == DEV_NO_NODE)
		return !*d->driver || !strcmp(d->driver, "erdma");
	return d->state == DEV_NO_DRIVER;
}

static bool any_may_come_up(const struct ctx *c)
{
	const struct dev *d;

	for (d = c->src.devs; d; d = d->next)
		if (may_come_up(d))
			return true;
	return false;
}

/* An adapter has no device while it is reset or bound: it lacks one that has none in all samples */
static int find_devices(struct ctx *c)
{
	int ret = ctx_devices(c);
	size_t i;

	for (i = 0; !ret && !c->src.ops->fixed && any_may_come_up(c) &&
	     i < COUNT_OF(sampler_gaps_ns); i++) {
		source_pass(&c->src, sampler_gaps_ns[i]);
		ctx_forget_devices(c);
		ret = ctx_devices(c);
	}
	return ret;
}

static int examine(struct ctx *c, struct collect *l)
{
	int ret = find_devices(c);

	if (ret)
		return ret;
	ret = ctx_each_dev(c, DEVS_MANY | DEVS_ANY, examine_dev, l);
	collect_answer(l);
	if (!ret || c->data.n)
		add_host(collect_inquiry(l));
	return ret;
}

/**
 * cmd_doctor - is anything wrong with this host's adapters?
 * @c: run
 * @a: arguments
 *
 * Return: 0, or a negative error number after reporting it.
 */
int cmd_doctor(struct ctx *c, const struct args *a)
{
	static const struct choice everything;
	struct collect *l = collect_new(c, &everything);
	struct inquiry *q = collect_inquiry(l);
	int ret = 0;

	if (a->opt[OPT_LIST])
		return list_rules(c);
	q->any = true;
	q->doctor = true;
	if (a->opt[OPT_ONLY])
		ret = only_rules(c, a->opt[OPT_ONLY], &q->only);
	if (!ret)
		ret = examine(c, l);
	if (!ret && q->only && !c->data.n && !c->found)
		ctx_note(c, "NOTHING_FOUND", NULL, "none of these rules holds");
	return ret;
}
