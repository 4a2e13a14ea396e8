/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A picture on a terminal that is drawn again and again, with plain escape codes. */
#ifndef EADM_SCREEN_H
#define EADM_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

bool screen_begin(void);
void screen_draw(const char *text);
bool screen_asks_end(void);
unsigned int screen_rows(void);
void screen_end(void);

#endif /* EADM_SCREEN_H */
