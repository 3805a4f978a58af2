/* A disk between a process and its files: it fails when it is told to, and it forgets what nobody waited for.
 *
 * Loaded by LD_PRELOAD. What concerns files below $DISK_BELOW is counted, and the call with the number $DISK_AT fails as $DISK_FAULT says,
 * and with $DISK_LASTING all from there on:
 *
 *   sync      waiting for the disk fails with EIO. What was to be waited for never gets there, as with Linux: the next wait succeeds.
 *   full      what takes room fails with ENOSPC.
 *   short     half of a write is written, and the next one fails with ENOSPC.
 *   broken    writing, making, renaming and removing fail with EIO.
 *   readonly  all of that, and opening to write, fails with EROFS.
 *   power     the process ends, and the files are as on a disk that had lost its power.
 *
 * A folder that is made with the name `disk is readonly` is not made, and the disk is so from then on.
 *
 * What a disk holds after a power cut: of each file, what was written before the last wait for it, and by chance some of what was written
 * since; of each folder, the names that it had at the last wait for it, and by chance the first ones of those that it got since. With
 * $DISK_CUT the power goes at the end of the process too.
 *
 * Calls are listed in $DISK_CALLS: what each does (0 takes room, 1 gives some back, 2 waits), its number among its like and among all, its
 * name and the path. Two processes that do the same have the same list.
 *
 * Nothing is ever really waited for, so this is fast. Maps of memory are not seen: SQLite uses them for its `-shm` only, which is
 * made anew. Locks and randomness go past libc in the store (rustix), and have nothing to do with this.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#define FILES_MAX 8192
#define NAMES_MAX 16384
#define CUT_STATUS 77

enum fault { NONE, SYNC, FULL, SHORT, BROKEN, READONLY, POWER };
/* What a call does: takes room, takes none or gives some back, waits. */
enum does { TAKES, GIVES, WAITS };

/* A write or, without bytes, a new length. */
struct change { struct change *next; off_t at; size_t len; unsigned char *bytes; };
struct file { dev_t dev; ino_t ino; int fd; unsigned char *disk; size_t len; struct change *first, **last; };
/* A name that a folder was told of and may forget: `old` is what it was called before, `kept` is what was there before. */
struct name { char *made, *old, *kept; dev_t dev; ino_t ino; enum { MADE, FOLDER, RENAMED, REMOVED } kind; };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *below, lost[PATH_MAX];
static enum fault fault;
static long at, changes, waits;
static int lasting, half_done, cut_at_end, ready;
static uint64_t chance_state;
static struct file files[FILES_MAX];
static struct name names[NAMES_MAX];
static size_t files_count, names_count, kept_count;
static FILE *calls;

#define REAL(result, symbol, ...) static result (*real_##symbol)(__VA_ARGS__)
REAL(int, open64, const char *, int, ...);
REAL(int, openat64, int, const char *, int, ...);
REAL(ssize_t, write, int, const void *, size_t);
REAL(ssize_t, pwrite64, int, const void *, size_t, off_t);
REAL(int, ftruncate64, int, off_t);
REAL(int, fsync, int);
REAL(int, rename, const char *, const char *);
REAL(int, link, const char *, const char *);
REAL(int, unlink, const char *);
REAL(int, mkdir, const char *, mode_t);

static void *grow(void *old, size_t bytes) {
    void *new = realloc(old, bytes ? bytes : 1);
    if (!new) abort();
    return new;
}

static char *copy(const char *text) { return strcpy(grow(NULL, strlen(text) + 1), text); }

__attribute__((constructor)) static void begin(void) {
#define FIND(symbol) real_##symbol = dlsym(RTLD_NEXT, #symbol)
    FIND(open64); FIND(openat64); FIND(write); FIND(pwrite64); FIND(ftruncate64); FIND(fsync);
    FIND(rename); FIND(link); FIND(unlink); FIND(mkdir);
    static const char *const words[] = {"none", "sync", "full", "short", "broken", "readonly", "power"};
    char *word = getenv("DISK_FAULT"), *number = getenv("DISK_AT"), *seed = getenv("DISK_SEED");
    below = getenv("DISK_BELOW");
    for (int i = NONE; word && i <= POWER; i++) if (!strcmp(word, words[i])) fault = i;
    at = number ? atol(number) : 0;
    chance_state = (seed ? strtoull(seed, NULL, 10) : 0) * 0x9e3779b97f4a7c15u + 1;
    lasting = getenv("DISK_LASTING") != NULL;
    cut_at_end = getenv("DISK_CUT") != NULL;
    if (below) snprintf(lost, sizeof lost, "%s.lost", below);
    if (getenv("DISK_CALLS")) calls = fopen(getenv("DISK_CALLS"), "w");
    ready = below != NULL;
    /* What this starts has a disk of its own. */
    unsetenv("LD_PRELOAD");
}

static unsigned chance(unsigned of) {
    chance_state ^= chance_state << 13; chance_state ^= chance_state >> 7; chance_state ^= chance_state << 17;
    return (unsigned)(chance_state >> 33) % of;
}

static int is_below(const char *path) {
    size_t len = ready ? strlen(below) : 0;
    return ready && !strncmp(path, below, len) && (path[len] == '/' || !path[len]);
}

static int has_ending(const char *path, const char *ending) {
    size_t len = strlen(path), of = strlen(ending);
    return len >= of && !strcmp(path + len - of, ending);
}

static struct file *known(int fd) {
    struct stat found;
    if (!ready || fstat(fd, &found)) return NULL;
    for (size_t i = 0; i < files_count; i++)
        if (files[i].ino == found.st_ino && files[i].dev == found.st_dev) return &files[i];
    return NULL;
}

/* Begins to follow a file: what it holds now is taken to be on the disk. */
static void follow(int fd) {
    struct stat found;
    if (known(fd) || fstat(fd, &found) || !S_ISREG(found.st_mode)) return;
    if (files_count == FILES_MAX) abort();
    struct file *file = &files[files_count++];
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    *file = (struct file){.dev = found.st_dev, .ino = found.st_ino, .len = (size_t)found.st_size};
    /* Never closed: closing it would let go of locks that others here have on the file. */
    file->fd = real_open64(path, O_RDWR | O_CLOEXEC);
    file->disk = grow(NULL, file->len);
    file->last = &file->first;
    if (file->fd < 0 || pread(file->fd, file->disk, file->len, 0) != (ssize_t)file->len) abort();
}

static void note(struct file *file, off_t where, size_t len, const void *bytes) {
    struct change *change = grow(NULL, sizeof *change);
    *change = (struct change){.at = where, .len = len};
    if (bytes) change->bytes = memcpy(grow(NULL, len), bytes, len);
    *file->last = change;
    file->last = &change->next;
}

static void resize(struct file *file, size_t len) {
    if (len > file->len) {
        file->disk = grow(file->disk, len);
        memset(file->disk + file->len, 0, len - file->len);
    }
    file->len = len;
}

enum reach { ALL, SOME, LOST };

/* What was written since the last wait gets to the disk, or does not. */
static void settle(struct file *file, enum reach reach) {
    while (file->first) {
        struct change *change = file->first;
        file->first = change->next;
        if (reach == ALL || (reach == SOME && chance(2))) {
            size_t len = change->len;
            /* A disk is written in sectors. */
            if (reach == SOME && change->bytes && len > 512 && chance(2)) len = 512 * chance((unsigned)(len / 512) + 1);
            if (!change->bytes) resize(file, (size_t)change->at);
            else if (len) {
                if ((size_t)change->at + len > file->len) resize(file, (size_t)change->at + len);
                memcpy(file->disk + change->at, change->bytes, len);
            }
        }
        free(change->bytes);
        free(change);
    }
    file->last = &file->first;
}

static int folder_of(const char *path, struct stat *found) {
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash) *slash = 0;
    return stat(folder, found);
}

static struct name *name(int kind, const char *path) {
    struct stat folder;
    if (names_count == NAMES_MAX || folder_of(path, &folder)) abort();
    struct name *name = &names[names_count++];
    *name = (struct name){.made = copy(path), .dev = folder.st_dev, .ino = folder.st_ino};
    name->kind = kind;
    return name;
}

/* Keeps what a name stands for, should it come back. */
static char *keep(const char *path) {
    char kept[PATH_MAX + 32];
    snprintf(kept, sizeof kept, "%s/%d-%zu", lost, (int)getpid(), kept_count++);
    return real_link(path, kept) ? NULL : copy(kept);
}

static void forget(struct name *name) {
    char kept[PATH_MAX + 32];
    switch (name->kind) {
    case MADE: real_unlink(name->made); break;
    case FOLDER:
        snprintf(kept, sizeof kept, "%s/%d-%zu", lost, (int)getpid(), kept_count++);
        real_rename(name->made, kept);
        break;
    case RENAMED:
        real_rename(name->made, name->old);
        if (name->kept) real_link(name->kept, name->made);
        break;
    case REMOVED: if (name->kept) real_link(name->kept, name->made);
    }
}

static void cut(void) {
    /* What is not waited for gets to the disk in the order in which it was done, up to some point. */
    size_t pending = 0, reached = 0;
    for (size_t i = 0; i < names_count; i++) pending += names[i].made != NULL;
    reached = chance(2) ? chance((unsigned)pending + 1) : 0;
    for (size_t i = names_count; i-- > 0;) if (names[i].made && pending-- > reached) forget(&names[i]);
    for (size_t i = 0; i < files_count; i++) {
        struct file *file = &files[i];
        settle(file, SOME);
        if (real_ftruncate64(file->fd, (off_t)file->len)) abort();
        if (real_pwrite64(file->fd, file->disk, file->len, 0) != (ssize_t)file->len) abort();
    }
}

__attribute__((destructor)) static void end(void) {
    if (!ready) return;
    pthread_mutex_lock(&lock);
    if (calls) fclose(calls);
    calls = NULL;
    if (cut_at_end) cut();
    /* Nothing is written any more. */
    ready = 0;
    pthread_mutex_unlock(&lock);
}

/* Counts a call, and gives the error it fails with. */
static int fails(enum does does, const char *call, const char *path) {
    if (fault == READONLY) return does == WAITS ? 0 : EROFS;
    long count = does == WAITS ? ++waits : ++changes;
    if (calls) fprintf(calls, "%d %ld %ld %s %s\n", does, count, changes + waits, call, path);
    if (fault == POWER && changes + waits == at) {
        cut();
        _exit(CUT_STATUS);
    }
    if ((fault == SYNC) != (does == WAITS) || fault == NONE || fault == POWER) return 0;
    if (count != at && !(lasting && count > at)) return 0;
    /* What gives room back never fails for want of it. */
    if (does == GIVES && fault != BROKEN) return 0;
    return fault == SYNC || fault == BROKEN ? EIO : ENOSPC;
}

/* Where a file is, if it is below. */
static const char *path_of(int fd) {
    static char path[PATH_MAX];
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t len = ready && fd > 2 ? readlink(link, path, sizeof path - 1) : -1;
    path[len < 0 ? 0 : len] = 0;
    return len >= 0 && is_below(path) ? path : NULL;
}

#define FAIL(error) do { int told = (error); pthread_mutex_unlock(&lock); errno = told; return -1; } while (0)
#define DONE(result) do { int told = errno; pthread_mutex_unlock(&lock); errno = told; return result; } while (0)

static int opened(int folder, const char *path, int flags, mode_t mode) {
    char full[PATH_MAX];
    struct stat found;
    int writes = (flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC));
    if (folder != AT_FDCWD || !is_below(path) || !writes) return real_openat64(folder, path, flags, mode);
    snprintf(full, sizeof full, "%s", path);
    pthread_mutex_lock(&lock);
    int new = lstat(full, &found) != 0;
    if (new ? flags & O_CREAT : fault == READONLY && !((flags & O_CREAT) && (flags & O_EXCL))) {
        int why = fails(TAKES, "make", full);
        if (why) FAIL(why);
    }
    int fd = real_openat64(folder, full, flags, mode);
    if (fd >= 0 && !has_ending(full, "-shm")) {
        /* A file that is emptied by being opened is emptied on the disk later. */
        follow(fd);
        if (new) name(MADE, full);
        else if (flags & O_TRUNC) note(known(fd), 0, 0, NULL);
    }
    DONE(fd);
}

#define MODE(flags) \
    mode_t mode = 0; \
    if ((flags) & (O_CREAT | O_TMPFILE)) { va_list rest; va_start(rest, flags); mode = va_arg(rest, mode_t); va_end(rest); }

int open(const char *path, int flags, ...) { MODE(flags) return opened(AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE(flags) return opened(AT_FDCWD, path, flags, mode); }
int openat(int folder, const char *path, int flags, ...) { MODE(flags) return opened(folder, path, flags, mode); }
int openat64(int folder, const char *path, int flags, ...) { MODE(flags) return opened(folder, path, flags, mode); }

static ssize_t written(int fd, const void *bytes, size_t len, off_t where) {
    pthread_mutex_lock(&lock);
    struct file *file = known(fd);
    const char *path = path_of(fd);
    if (path) {
        int why = half_done ? ENOSPC : fails(TAKES, "write", path);
        if (why && fault == SHORT && !half_done && len > 1) {
            half_done = 1;
            len /= 2;
        } else if (why) {
            half_done = 0;
            FAIL(why);
        }
    }
    struct stat found;
    off_t begins = where;
    if (file && where < 0) {
        int flags = fcntl(fd, F_GETFL);
        begins = (flags & O_APPEND) && !fstat(fd, &found) ? found.st_size : lseek(fd, 0, SEEK_CUR);
    }
    ssize_t done = where < 0 ? real_write(fd, bytes, len) : real_pwrite64(fd, bytes, len, where);
    if (file && done > 0) note(file, begins, (size_t)done, bytes);
    DONE(done);
}

ssize_t write(int fd, const void *bytes, size_t len) { return ready ? written(fd, bytes, len, -1) : real_write(fd, bytes, len); }
ssize_t pwrite(int fd, const void *bytes, size_t len, off_t where) { return written(fd, bytes, len, where); }
ssize_t pwrite64(int fd, const void *bytes, size_t len, off_t where) { return written(fd, bytes, len, where); }

ssize_t writev(int fd, const struct iovec *parts, int count) {
    /* Fewer bytes than were asked for is an answer too. */
    for (int i = 0; i < count; i++) if (parts[i].iov_len) return write(fd, parts[i].iov_base, parts[i].iov_len);
    return 0;
}

static int cut_off(int fd, off_t len) {
    pthread_mutex_lock(&lock);
    struct file *file = known(fd);
    struct stat found;
    const char *path = path_of(fd);
    if (path) {
        int why = fails(!fstat(fd, &found) && len > found.st_size ? TAKES : GIVES, "cut", path);
        if (why) FAIL(why);
    }
    int done = real_ftruncate64(fd, len);
    if (file && !done) note(file, len, 0, NULL);
    DONE(done);
}

int ftruncate(int fd, off_t len) { return cut_off(fd, len); }
int ftruncate64(int fd, off_t len) { return cut_off(fd, len); }

static int waited(int fd) {
    struct stat found;
    pthread_mutex_lock(&lock);
    struct file *file = known(fd);
    const char *path = path_of(fd);
    if (!path) DONE(real_fsync(fd));
    /* SQLite does not look at what waiting for a folder comes to. It need not: where a folder cannot be written, nothing can. */
    int why = fails(WAITS, "wait", path);
    if (fault == SYNC && !lasting && !file) why = 0;
    if (file) settle(file, why ? LOST : ALL);
    else if (!why && !fstat(fd, &found))
        for (size_t i = 0; i < names_count; i++)
            if (names[i].ino == found.st_ino && names[i].dev == found.st_dev) names[i].made = NULL;
    if (why) FAIL(why);
    DONE(0);
}

int fsync(int fd) { return waited(fd); }
int fdatasync(int fd) { return waited(fd); }

int rename(const char *from, const char *to) {
    if (!is_below(from) && !is_below(to)) return real_rename(from, to);
    pthread_mutex_lock(&lock);
    int why = fails(TAKES, "rename", to);
    if (why) FAIL(why);
    char *kept = keep(to);
    int done = real_rename(from, to);
    if (!done) {
        struct name *new = name(RENAMED, to);
        new->old = copy(from);
        new->kept = kept;
    }
    DONE(done);
}

int link(const char *from, const char *to) {
    if (!is_below(to)) return real_link(from, to);
    pthread_mutex_lock(&lock);
    int why = fails(TAKES, "link", to);
    if (why) FAIL(why);
    int done = real_link(from, to);
    if (!done) name(MADE, to);
    DONE(done);
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags) {
    (void)from_folder; (void)to_folder; (void)flags;
    return link(from, to);
}

int unlink(const char *path) {
    if (!is_below(path)) return real_unlink(path);
    pthread_mutex_lock(&lock);
    struct stat found;
    int why = lstat(path, &found) ? 0 : fails(GIVES, "remove", path);
    if (why) FAIL(why);
    char *kept = has_ending(path, "-shm") ? NULL : keep(path);
    int done = real_unlink(path);
    if (!done) name(REMOVED, path)->kept = kept;
    DONE(done);
}

int mkdir(const char *path, mode_t mode) {
    if (!is_below(path)) return real_mkdir(path, mode);
    pthread_mutex_lock(&lock);
    if (has_ending(path, "/disk is readonly")) {
        fault = READONLY;
        DONE(0);
    }
    struct stat found;
    int why = lstat(path, &found) ? fails(TAKES, "make", path) : 0;
    if (why) FAIL(why);
    int done = real_mkdir(path, mode);
    if (!done) name(FOLDER, path);
    DONE(done);
}
