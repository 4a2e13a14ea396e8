// SPDX-License-Identifier: GPL-2.0-or-later
/* Findings: which of them is the verdict, and all of them as facts. */
#include <stdarg.h>
#include <string.h>

#include "decode.h"
#include "emit.h"
#include "schema.h"
#include "step.h"
#include "why.h"

#define WORDS_MAX	16
#define RECENT_NS	600000000000ULL	/* older failures are of no interest unless asked for */

/**
 * found - a rule holds
 * @f: findings
 * @id: rule
 * @...: words of its sentence and what stands for them, in pairs; NULL at the end
 *
 * Return: finding.
 */
struct finding *found(struct findings *f, enum rule_id id, ...)
{
	struct finding *n = pool_alloc(&f->c->pool, sizeof(*n)), **end = &f->first;
	struct rule_word words[WORDS_MAX];
	const char *name;
	size_t k = 0;
	va_list ap;

	va_start(ap, id);
	while (k < WORDS_MAX && (name = va_arg(ap, const char *))) {
		words[k].name = name;
		words[k++].value = va_arg(ap, const char *);
	}
	va_end(ap);
	n->rule = &rules[id];
	n->side = n->rule->side;
	n->sure = n->rule->sure;
	n->dev = f->dev;
	n->text = rule_fill(&f->c->pool, n->rule->sentence, words, k);
	n->step = rule_fill(&f->c->pool, n->rule->next, words, k);
	while (*end)
		end = &(*end)->next;
	*end = n;
	return n;
}

/**
 * is_found - does a rule hold?
 * @f: findings
 * @id: rule
 *
 * Return: true if it does.
 */
bool is_found(const struct findings *f, enum rule_id id)
{
	const struct finding *n;

	for (n = f->first; n; n = n->next)
		if (n->rule == &rules[id])
			return true;
	return false;
}

/* What a risk or an event of the past says of the present is less than what is known of it */
static int weight(const struct finding *n)
{
	static const int levels[] = { [LEVEL_FAULT] = 2, [LEVEL_NOTE] = 1, [LEVEL_WARNING] = 0 };

	return 16 * !n->explained + 4 * levels[n->rule->level] + (int)n->sure;
}

/**
 * findings_verdict - the finding that answers the question
 * @f: findings
 *
 * Return: the worst, and of those the surest, that is not explained by another; NULL without
 * any.
 */
const struct finding *findings_verdict(const struct findings *f)
{
	const struct finding *n, *best = NULL;

	for (n = f->first; n; n = n->next)
		if (!best || weight(n) > weight(best) ||
		    (weight(n) == weight(best) && n->rule < best->rule))
			best = n;
	return best;
}

/* What the recorders have may be over */
static bool is_past(const struct rule *r)
{
	return (r >= &rules[RULE_CM_REFUSED] && r <= &rules[RULE_CM_FAILED]) ||
	       r == &rules[RULE_PINNED_LIMIT] || r == &rules[RULE_VERB_FAILED];
}

/**
 * rule_is_bad - does doctor report a rule?
 * @r: rule
 *
 * Return: true for faults, and warnings that are more than possible.
 */
bool rule_is_bad(const struct rule *r)
{
	return r->level == LEVEL_FAULT || (r->level == LEVEL_WARNING && r->sure > SURE_POSSIBLE);
}

/**
 * rule_exit - how bad is it if a rule holds?
 * @r: rule
 * @sure: how sure it is there, which may be less than the table says
 *
 * Return: EX_FAULT for a fault that is there and certain, EX_WARNING for anything else that
 * doctor reports, else EX_DONE.
 */
enum exit_code rule_exit(const struct rule *r, enum rule_sure sure)
{
	if (!rule_is_bad(r))
		return EX_DONE;
	return r->level == LEVEL_FAULT && sure == SURE_CERTAIN && !is_past(r) ? EX_FAULT :
	       EX_WARNING;
}

/**
 * findings_keep_bad - leave what doctor reports
 * @f: findings
 * @only: the rules that are asked about, by number; NULL: all
 */
void findings_keep_bad(struct findings *f, const bool *only)
{
	struct finding **n = &f->first;

	while (*n)
		if (rule_is_bad((*n)->rule) && (!only || only[(*n)->rule - rules]))
			n = &(*n)->next;
		else
			*n = (*n)->next;
}

/**
 * findings_move - findings of one subject become those of another
 * @to: findings
 * @from: findings, none behind the call
 */
void findings_move(struct findings *to, struct findings *from)
{
	struct finding **end = &to->first;

	while (*end)
		end = &(*end)->next;
	*end = from->first;
	from->first = NULL;
}

/**
 * findings_repeat - findings hold of another subject, too
 * @to: findings
 * @from: findings, which stay as they are
 */
void findings_repeat(struct findings *to, const struct findings *from)
{
	struct finding **end = &to->first;
	const struct finding *n;

	while (*end)
		end = &(*end)->next;
	for (n = from->first; n; n = n->next) {
		*end = pool_alloc(&to->c->pool, sizeof(*n));
		**end = *n;
		end = &(*end)->next;
	}
	*end = NULL;
}

/**
 * findings_exit - how bad is it?
 * @f: findings
 *
 * Return: EX_FAULT if one is a fault that is there and certain; EX_WARNING if there is any
 * that findings_keep_bad() leaves; EX_DONE.
 */
enum exit_code findings_exit(const struct findings *f)
{
	enum exit_code code = EX_DONE, one;
	const struct finding *n;

	for (n = f->first; n; n = n->next) {
		one = rule_exit(n->rule, n->sure);
		code = one > code ? one : code;
	}
	return code;
}

/**
 * finding_fill - a finding as facts
 * @c: run
 * @o: object of schema_why_finding
 * @n: finding
 */
void finding_fill(struct ctx *c, struct obj *o, const struct finding *n)
{
	const char *runbook = rule_runbook(o->pool, n->rule);

	obj_str(o, WV_RULE, n->rule->name);
	obj_str(o, WV_LEVEL, rule_level_name(n->rule->level));
	obj_str(o, WV_CONFIDENCE, rule_sure_name(n->sure));
	obj_str(o, WV_SIDE, rule_side_name(n->side));
	obj_str(o, WV_TEXT, n->text);
	obj_str(o, WV_NEXT, step_text(c, n));
	if (runbook)
		obj_str(o, WV_RUNBOOK, runbook);
}

/**
 * finding_side - whose fault is it, as seen from the end that the question is about?
 * @n: finding
 * @e: the end whose application has to act
 *
 * What is neither an application's nor the peer's remains so.
 */
void finding_side(struct finding *n, const struct end *e)
{
	if (n->side == SIDE_APPLICATION || n->side == SIDE_PEER)
		n->side = e->side;
}

/**
 * finding_place - say where the next step is to be taken: of two devices, and on two hosts
 * @n: finding
 * @e: end that is there
 */
void finding_place(struct finding *n, const struct end *e)
{
	n->dev = e->dev;
	n->place = e->place;
}

/**
 * finding_at - an end has to act, where it is
 * @n: finding
 * @e: the end
 */
void finding_at(struct finding *n, const struct end *e)
{
	finding_side(n, e);
	finding_place(n, e);
}

/**
 * finding_of_both - a finding rests on what both ends had at the same time
 * @n: finding
 * @p: connection
 */
void finding_of_both(struct finding *n, const struct pair *p)
{
	if (p->apart && n->sure > SURE_LIKELY)
		n->sure = SURE_LIKELY;
}

/**
 * findings_fill - verdict and other findings of an object
 * @f: findings
 * @o: object of schema_why
 */
void findings_fill(const struct findings *f, struct obj *o)
{
	const struct finding *n, *verdict = findings_verdict(f);
	struct list *also = obj_list(o, WY_ALSO);
	struct obj *sub;

	for (n = f->first; n; n = n->next) {
		if (n == verdict)
			continue;
		sub = obj_new(o->pool, &schema_why_finding);
		finding_fill(f->c, sub, n);
		list_add(also, sub);
	}
	if (verdict)
		finding_fill(f->c, obj_sub(o, WY_VERDICT), verdict);
}

/* ---- words -------------------------------------------------------------------- */

/**
 * text_u - a number
 * @c: run
 * @v: number
 *
 * Return: text.
 */
const char *text_u(struct ctx *c, uint64_t v)
{
	return pool_printf(&c->pool, "%llu", (unsigned long long)v);
}

/**
 * text_n - so many of something
 * @c: run
 * @n: number
 * @what: one of them
 *
 * Return: "1 block", "2 blocks".
 */
const char *text_n(struct ctx *c, uint64_t n, const char *what)
{
	return pool_printf(&c->pool, "%llu %s%s", (unsigned long long)n, what, n == 1 ? "" : "s");
}

/**
 * text_ns - a duration
 * @c: run
 * @ns: nanoseconds
 *
 * Return: text.
 */
const char *text_ns(struct ctx *c, uint64_t ns)
{
	const struct val v = { .kind = V_U64, .u = ns };

	return value_text(&c->pool, T_NS, &v, false);
}

/**
 * text_ago - how long ago something was
 * @c: run
 * @dev: open device
 * @then_ns: CLOCK_MONOTONIC of its host
 *
 * Return: text.
 */
const char *text_ago(struct ctx *c, const struct dev *dev, uint64_t then_ns)
{
	uint64_t now = dev->info.time_mono_ns;

	return text_ns(c, now > then_ns ? now - then_ns : 0);
}

/**
 * is_recent - may a failure still be of interest, without being asked about?
 * @c: run
 * @dev: open device
 * @then_ns: CLOCK_MONOTONIC of its host
 *
 * Return: true if it was within ten minutes, and not in front of the time the run is about.
 */
bool is_recent(const struct ctx *c, const struct dev *dev, uint64_t then_ns)
{
	uint64_t now = dev->info.time_mono_ns;

	return then_ns >= c->since_ns && (then_ns > now || now - then_ns <= RECENT_NS);
}

/**
 * text_owner - who made an object
 * @c: run
 * @owner: owner
 *
 * Return: "name[pid]", "the kernel's name", or "a process that is not known".
 */
const char *text_owner(struct ctx *c, const struct erdma_diag_owner *owner)
{
	const char *name = pool_printf(&c->pool, "%.*s", ERDMA_DIAG_COMM_LEN,
				       (const char *)owner->comm);

	if (owner->kernel)
		return pool_printf(&c->pool, "the kernel's %s", owner->comm[0] ? name : "driver");
	if (!owner->pid)
		return owner->comm[0] ? name : "a process that is not known";
	return pool_printf(&c->pool, "%s[%u]", name, owner->pid);
}

/**
 * text_ip - an IPv4 address
 * @c: run
 * @addr: its bytes
 *
 * Return: text.
 */
const char *text_ip(struct ctx *c, const uint8_t *addr)
{
	char text[INET_ADDRSTRLEN];

	ipv4_text(addr, text);
	return pool_strdup(&c->pool, text);
}

/**
 * text_peer - address and port
 * @c: run
 * @addr: bytes of the address
 * @port: port, host order
 *
 * Return: text.
 */
const char *text_peer(struct ctx *c, const uint8_t *addr, uint16_t port)
{
	return pool_printf(&c->pool, "%s:%u", text_ip(c, addr), port);
}

/**
 * text_qp - a queue pair
 * @c: run
 * @qpn: number
 *
 * Return: "qp 17".
 */
const char *text_qp(struct ctx *c, uint32_t qpn)
{
	return pool_printf(&c->pool, "qp %u", qpn);
}
