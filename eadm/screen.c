// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A picture on a terminal that is drawn again and again. The terminal is as it was before after
 * every end: by the program, by a signal, by a fault; and while the program is stopped.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "emit.h"
#include "screen.h"

#define HIDE	"\033[?25l\033[?7l"	/* no cursor; what is too long for a line is cut */
#define SHOW	"\033[?25h\033[?7h"
#define HOME	"\033[H"
#define LINE_END "\033[K\n"
#define REST	"\033[J"

static struct termios before;
static volatile sig_atomic_t have_keys, drawing;

static void put(const char *s, size_t n)
{
	ssize_t done;

	while (n) {
		done = write(STDOUT_FILENO, s, n);
		if (done < 0 && errno != EINTR)
			return;
		if (done > 0) {
			s += done;
			n -= (size_t)done;
		}
	}
}

/* Keys come at once, and are not shown; those that send signals still do */
static void take_terminal(void)
{
	struct termios raw = before;

	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	if (have_keys)
		tcsetattr(STDIN_FILENO, TCSANOW, &raw);
	put(HIDE, strlen(HIDE));
	drawing = 1;
}

/**
 * screen_end - the terminal is as it was before
 *
 * May be called from a signal handler, and more than once.
 */
void screen_end(void)
{
	if (!drawing)
		return;
	drawing = 0;
	put(SHOW, strlen(SHOW));
	if (have_keys)
		tcsetattr(STDIN_FILENO, TCSANOW, &before);
}

/* ^Z: stop with the terminal as it was; fg: take it again */
static void on_stop(int sig)
{
	int saved = errno;
	sigset_t set;

	screen_end();
	signal(sig, SIG_DFL);
	raise(sig);
	sigemptyset(&set);
	sigaddset(&set, sig);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	/* Here it stops, and goes on */
	signal(sig, on_stop);
	take_terminal();
	raise(SIGWINCH);
	errno = saved;
}

/* The handler is gone by now: the signal does what it would have done */
static void on_fault(int sig)
{
	screen_end();
	raise(sig);
}

/**
 * screen_begin - take the terminal
 *
 * Return: false: standard output is none, or one without escape codes.
 */
bool screen_begin(void)
{
	static const int faults[] = { SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGQUIT };
	struct sigaction act = { .sa_handler = on_fault, .sa_flags = (int)SA_RESETHAND };
	size_t i;

	if (!terminal_codes(STDOUT_FILENO))
		return false;
	have_keys = !tcgetattr(STDIN_FILENO, &before);
	atexit(screen_end);
	for (i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		sigaction(faults[i], &act, NULL);
	signal(SIGTSTP, on_stop);
	take_terminal();
	return true;
}

/**
 * screen_rows - lines of the terminal
 *
 * Return: their number; 24 if it is not known.
 */
unsigned int screen_rows(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_row)
		return 24;
	return size.ws_row;
}

/**
 * screen_draw - draw a picture over the one before
 * @text: lines; those for which there is no room are left out
 */
void screen_draw(const char *text)
{
	unsigned int left = screen_rows() - 1;
	const char *end;

	put(HOME, strlen(HOME));
	for (; *text && left; left--) {
		end = strchrnul(text, '\n');
		put(text, (size_t)(end - text));
		put(LINE_END, strlen(LINE_END));
		text = *end ? end + 1 : end;
	}
	put(REST, strlen(REST));
}

/**
 * screen_asks_end - read the keys that were pressed
 *
 * Return: true if one of them is 'q', or if there will be no more keys.
 */
bool screen_asks_end(void)
{
	char keys[64];
	ssize_t n = read(STDIN_FILENO, keys, sizeof(keys));

	return n <= 0 ? n == 0 || errno != EINTR : memchr(keys, 'q', (size_t)n) != NULL;
}
