// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of rules, and its sentences with what was found in the place of their words. */
#include <string.h>

#include "rules.h"

const struct rule rules[RULE_COUNT] = {
#define RULE_ENTRY(id, name, level, sure, side, sentence, next, text)			\
	[RULE_##id] = { name, LEVEL_##level, SURE_##sure, SIDE_##side, sentence, next, text },
	RULES(RULE_ENTRY)
};

/**
 * rule_called - find a rule
 * @name: its name
 *
 * Return: rule, or NULL.
 */
const struct rule *rule_called(const char *name)
{
	size_t i;

	for (i = 0; i < RULE_COUNT; i++)
		if (!strcmp(rules[i].name, name))
			return &rules[i];
	return NULL;
}

/**
 * rule_level_name - a level in words
 * @level: level
 *
 * Return: "note", "warning" or "fault".
 */
const char *rule_level_name(enum rule_level level)
{
	static const char *const names[] = { "note", "warning", "fault" };

	return names[level];
}

static const char *const sure_names[] = { "POSSIBLE", "LIKELY", "CERTAIN" };

/**
 * rule_sure_name - a confidence in words
 * @sure: confidence
 *
 * Return: "POSSIBLE", "LIKELY" or "CERTAIN".
 */
const char *rule_sure_name(enum rule_sure sure)
{
	return sure_names[sure];
}

/**
 * rule_sure_called - a confidence of these words
 * @name: of rule_sure_name()
 *
 * Return: confidence; SURE_POSSIBLE for any other words.
 */
enum rule_sure rule_sure_called(const char *name)
{
	enum rule_sure sure = SURE_CERTAIN;

	while (sure > SURE_POSSIBLE && strcmp(sure_names[sure], name))
		sure--;
	return sure;
}

/**
 * rule_side_name - a side in words
 * @side: side
 *
 * Return: "application" and so on.
 */
const char *rule_side_name(enum rule_side side)
{
	static const char *const names[] = { "application", "driver", "card", "path", "peer",
					     "admin" };

	return names[side];
}

/**
 * rule_text - all that the table has of a rule, in one paragraph
 * @p: memory
 * @r: rule
 *
 * Return: text.
 */
const char *rule_text(struct pool *p, const struct rule *r)
{
	const char *runbook = rule_runbook(p, r);

	return pool_printf(p, "%s, %s, %s: \"%s\". %s Next: %s%s%s", rule_level_name(r->level),
			   rule_sure_name(r->sure), rule_side_name(r->side), r->sentence, r->text,
			   r->next, runbook ? ". Runbook: " : "", runbook ? runbook : "");
}

/* The value of the word of @len bytes at @name; what is not known is a question mark */
static const char *value_of(const struct rule_word *words, size_t n, const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!strncmp(words[i].name, name, len) && !words[i].name[len])
			return words[i].value ? words[i].value : "?";
	return "?";
}

/**
 * rule_fill - a sentence with values
 * @p: memory
 * @pattern: sentence with words in braces
 * @words: what stands for them
 * @n: their number
 *
 * Return: text.
 */
const char *rule_fill(struct pool *p, const char *pattern, const struct rule_word *words,
		      size_t n)
{
	const char *s = pattern, *open, *close, *text = "";

	while ((open = strchr(s, '{')) && (close = strchr(open, '}'))) {
		text = pool_printf(p, "%s%.*s%s", text, (int)(open - s), s,
				   value_of(words, n, open + 1, (size_t)(close - open - 1)));
		s = close + 1;
	}
	return pool_printf(p, "%s%s", text, s);
}
