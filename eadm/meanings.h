/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Codes and words that eadm and applications show, by namespace, and what they mean. */
#ifndef EADM_MEANINGS_H
#define EADM_MEANINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model.h"

/**
 * struct meaning - what a code or a word means
 * @space: namespace
 * @code: number; -1: the word has none
 * @word: name
 * @text: sentence
 * @hex: the code is mostly written in hex
 */
struct meaning {
	const char *space;
	int64_t code;
	const char *word;
	const char *text;
	bool hex;
};

const struct meaning *meaning_at(size_t i);
const char *meaning_text(struct pool *p, const struct meaning *m);
const char *meaning_doubt(const struct meaning *m);
bool meaning_in(const struct meaning *m, const char *space);
bool meaning_called(const struct meaning *m, const char *word);

#endif /* EADM_MEANINGS_H */
