// The operating-system end of libc, cut off: whatever QuickJS would ask a system for is answered here, so the linked
// module imports nothing but the three functions of guest.c.
//
// This object comes before libc.a in the link, so each definition below keeps the matching member (and its system calls)
// out.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

extern double isolith_look_at_clock(void); // microseconds since the epoch

int gettimeofday(struct timeval *restrict tv, void *restrict tz) {
    (void)tz;
    long long us = (long long)isolith_look_at_clock();
    tv->tv_sec = (time_t)(us / 1000000);
    tv->tv_usec = (suseconds_t)(us % 1000000);
    return 0;
}
int clock_gettime(clockid_t clock, struct timespec *ts) {
    (void)clock;
    long long us = (long long)isolith_look_at_clock();
    ts->tv_sec = (time_t)(us / 1000000);
    ts->tv_nsec = (long)((us % 1000000) * 1000);
    return 0;
}
struct tm *localtime_r(const time_t *restrict t, struct tm *restrict tm) { // the only zone is UTC
    (void)t;
    memset(tm, 0, sizeof(*tm));
    return tm;
}

_Noreturn void abort(void) { __builtin_trap(); }
_Noreturn void __assert_fail(const char *e, const char *f, int l, const char *fn) {
    (void)e; (void)f; (void)l; (void)fn;
    __builtin_trap();
}

// Only QuickJS's debug dumps would write.
int fprintf(FILE *restrict f, const char *restrict fmt, ...) { (void)f; (void)fmt; return 0; }
int printf(const char *restrict fmt, ...) { (void)fmt; return 0; }
int fputc(int c, FILE *f) { (void)f; return c; }
int putchar(int c) { return c; }
int puts(const char *s) { (void)s; return 0; }
int fputs(const char *restrict s, FILE *restrict f) { (void)s; (void)f; return 0; }
int fflush(FILE *f) { (void)f; return 0; }
size_t __stdio_write(FILE *f, const unsigned char *b, size_t n) { (void)f; (void)b; return n; }
size_t __stdout_write(FILE *f, const unsigned char *b, size_t n) { (void)f; (void)b; return n; }
off_t __stdio_seek(FILE *f, off_t o, int w) { (void)f; (void)o; (void)w; return -1; }
int __stdio_close(FILE *f) { (void)f; return 0; }
int __isatty(int fd) { (void)fd; return 0; }
