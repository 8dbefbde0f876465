// A libcuda.so.1 for tests. It keeps device memory in the host's, checks every handle, address and the current context
// of the calling thread, and queues the work of the stream until a call waits for it. fake_fail makes any function
// fail; -DNO_PARAMETERS and -DNO_WAIT leave one out. The only kernel that computes something is "scale".
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t u64;
typedef uint32_t u32;

enum { INVALID_VALUE = 1, DEINITIALIZED = 4, INVALID_DEVICE = 101, INVALID_CONTEXT = 201, INVALID_PTX = 218, INVALID_HANDLE = 400, NOT_FOUND = 500 };

// ---- control ----

static struct { char name[48]; int nth, code; } failing[8];
static int failures, devices = 1, version = 12040, initialized;
static u64 seen[64];
static char names[64][48];
static int functions;

void fake_fail(const char *name, int nth, int code) { // at the nth call from now on, and at no later one
	snprintf(failing[failures].name, sizeof failing[0].name, "%s", name);
	failing[failures].nth = nth;
	failing[failures++].code = code;
}
void fake_devices(int n) { devices = n; }
void fake_version(int v) { version = v; }

static int due(const char *name) {
	int i, rc = 0;
	for (i = 0; i < functions && strcmp(names[i], name); i++);
	if (i == functions)
		snprintf(names[functions++], sizeof names[0], "%s", name);
	seen[i]++;
	for (i = 0; i < failures; i++)
		if (!strcmp(failing[i].name, name) && --failing[i].nth == 0)
			rc = failing[i].code;
	return rc;
}
u64 fake_calls(const char *name) { // of one function, or of all for ""
	u64 n = 0;
	for (int i = 0; i < functions; i++)
		if (!*name || !strcmp(names[i], name))
			n += seen[i];
	return n;
}

#define ENTER() do { int rc = due(__func__); if (rc) return rc; } while (0)
#define CONTEXT ((void *)0x1234)
#define STREAM(i) ((void *)(0x5678 + (u64)(i)))
#define IN_CONTEXT() do { ENTER(); if (!retained || current != CONTEXT) return INVALID_CONTEXT; } while (0)
#define ON(s) do { if ((s) < STREAM(0) || (s) >= STREAM(made) || !streams) return INVALID_HANDLE; } while (0)

static int retained, streams, made, modules, events;
static __thread void *current;

// ---- memory ----

static struct { char *at; size_t size; } blocks[256];
static size_t limit = (size_t)1 << 20, used;

static int inside(u64 p, size_t n) {
	for (int i = 0; i < 256; i++)
		if (blocks[i].at && p >= (u64)blocks[i].at && p + n <= (u64)blocks[i].at + blocks[i].size)
			return 1;
	return 0;
}
int fake_held(void) { // things not given back
	int n = retained + streams + modules + events;
	for (int i = 0; i < 256; i++)
		n += blocks[i].at != 0;
	return n;
}

// ---- kernels and launches ----

typedef struct { char name[32]; int count; size_t size[64]; } function;
static struct { function f; u32 grid[3], block[3], shared; u64 value[64]; } last;
static u64 launches;

u64 fake_launches(void) { return launches; }
u32 fake_grid(int i) { return last.grid[i]; }
u32 fake_block(int i) { return last.block[i]; }
u64 fake_value(int i) { return last.value[i]; }

// ---- the queue ----

struct work { enum { DONE, IN, OUT, CLEAR, LAUNCH, RECORD, WAIT } kind; void *stream; u64 at; void *host; size_t size; struct event *event; u64 value[3]; u32 threads; };
struct event { int live, done; void *stream; };
static struct work queue[8192];
static int queued;

static int drain(void *stream) { // the work of one stream, and of others what it waits for
	int left = 0;
	for (int i = 0; i < queued; i++) {
		struct work *w = &queue[i], todo = *w;
		if (w->kind == DONE || w->stream != stream) continue;
		w->kind = DONE;
		w = &todo;
		switch (w->kind) {
		case DONE: break;
		case WAIT: if (!w->event->done && w->event->stream != stream) drain(w->event->stream); break;
		case IN: memcpy((void *)w->at, w->host, w->size); break;
		case OUT: memcpy(w->host, (void *)w->at, w->size); break;
		case CLEAR: memset((void *)w->at, 0, w->size); break;
		case RECORD: w->event->done = 1; break;
		case LAUNCH: {
			float by; memcpy(&by, &w->value[2], 4);
			for (u32 j = 0; j < (u32)w->value[1] && j < w->threads; j++)
				((float *)w->value[0])[j] *= by;
		} }
	}
	for (int i = 0; i < queued; i++)
		if (queue[i].kind != DONE) left = i + 1;
	queued = left;
	return 0;
}
static int push(void *stream, struct work w) {
	if (queued == 8192) for (int i = 0; i < made; i++) drain(STREAM(i));
	w.stream = stream;
	queue[queued++] = w;
	return 0;
}

// ---- the driver ----

int cuInit(u32 flags) { ENTER(); initialized = 1; return flags ? INVALID_VALUE : 0; }
int cuDriverGetVersion(int *v) { ENTER(); *v = version; return 0; }
int cuGetErrorName(int rc, const char **text) {
	static const struct { int code; const char *name; } table[] = {
		{1, "CUDA_ERROR_INVALID_VALUE"}, {2, "CUDA_ERROR_OUT_OF_MEMORY"}, {46, "CUDA_ERROR_DEVICE_UNAVAILABLE"}, {100, "CUDA_ERROR_NO_DEVICE"},
		{209, "CUDA_ERROR_NO_BINARY_FOR_GPU"}, {214, "CUDA_ERROR_ECC_UNCORRECTABLE"}, {218, "CUDA_ERROR_INVALID_PTX"}, {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
		{700, "CUDA_ERROR_ILLEGAL_ADDRESS"}, {702, "CUDA_ERROR_LAUNCH_TIMEOUT"}, {719, "CUDA_ERROR_LAUNCH_FAILED"}, {999, "CUDA_ERROR_UNKNOWN"} };
	ENTER();
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (table[i].code == rc) { *text = table[i].name; return 0; }
	*text = 0;
	return INVALID_VALUE;
}
int cuDeviceGetCount(int *n) { ENTER(); *n = devices; return initialized ? 0 : 3; }
int cuDeviceGet(int *d, int ordinal) { ENTER(); *d = ordinal + 10; return ordinal >= 0 && ordinal < devices ? 0 : INVALID_DEVICE; }
int cuDeviceGetName(char *name, int size, int d) { ENTER(); snprintf(name, size, "Fake GPU %d", d - 10); return 0; }
int cuDeviceGetAttribute(int *v, int which, int d) {
	*v = -1;
	ENTER();
	switch (which) {
	case 16: *v = 132; return 0;
	}
	return INVALID_VALUE;
}
int cuDeviceTotalMem_v2(size_t *n, int d) { ENTER(); *n = limit; return d >= 10 ? 0 : INVALID_DEVICE; }
int cuDevicePrimaryCtxRetain(void **c, int d) { ENTER(); retained++; *c = CONTEXT; return d >= 10 ? 0 : INVALID_DEVICE; }
int cuDevicePrimaryCtxRelease_v2(int d) {
	ENTER();
	if (!retained) return INVALID_CONTEXT;
	retained--;
	return 0;
}
int cuCtxSetCurrent(void *c) { ENTER(); if (c != CONTEXT) return INVALID_CONTEXT; current = c; return 0; }
int cuStreamCreate(void **s, u32 flags) { IN_CONTEXT(); streams++; *s = STREAM(made++); return flags == 1 ? 0 : INVALID_VALUE; }
int cuStreamDestroy_v2(void *s) { IN_CONTEXT(); ON(s); streams--; return 0; }
int cuStreamSynchronize(void *s) { IN_CONTEXT(); ON(s); return drain(s); }

int cuMemAlloc_v2(u64 *p, size_t n) {
	IN_CONTEXT();
	if (!n) return INVALID_VALUE;
	if (used + n > limit) return 2;
	for (int i = 0; i < 256; i++)
		if (!blocks[i].at) {
			blocks[i].at = aligned_alloc(256, (n + 255) / 256 * 256);
			memset(blocks[i].at, 0xa5, n);
			used += blocks[i].size = n;
			*p = (u64)blocks[i].at;
			return 0;
		}
	return 2;
}
int cuMemFree_v2(u64 p) {
	IN_CONTEXT();
	if (queued) return INVALID_VALUE; // stricter than CUDA: work in the queue may use it
	for (int i = 0; i < 256; i++)
		if (p && (u64)blocks[i].at == p) {
			free(blocks[i].at);
			used -= blocks[i].size;
			blocks[i].at = 0;
			return 0;
		}
	return INVALID_VALUE;
}
int cuMemGetInfo_v2(size_t *free, size_t *total) { IN_CONTEXT(); *free = limit - used; *total = limit; return 0; }
int cuMemcpyHtoDAsync_v2(u64 to, const void *from, size_t n, void *s) {
	IN_CONTEXT(); ON(s);
	if (!inside(to, n)) return INVALID_VALUE;
	return push(s, (struct work){.kind = IN, .at = to, .host = (void *)from, .size = n}); // not staged: CUDA does not promise it
}
int cuMemcpyDtoHAsync_v2(void *to, u64 from, size_t n, void *s) {
	IN_CONTEXT(); ON(s);
	return inside(from, n) ? push(s, (struct work){.kind = OUT, .at = from, .host = to, .size = n}) : INVALID_VALUE;
}
int cuMemsetD8Async(u64 at, unsigned char v, size_t n, void *s) {
	IN_CONTEXT(); ON(s);
	return inside(at, n) && !v ? push(s, (struct work){.kind = CLEAR, .at = at, .size = n}) : INVALID_VALUE;
}

int cuModuleLoadDataEx(void **m, const char *image, u32 n, const int *options, void **values) {
	IN_CONTEXT();
	if (n != 2 || options[0] != 5 || options[1] != 6) return INVALID_VALUE;
	if (!strstr(image, ".version 8.4")) {
		snprintf(values[0], (size_t)values[1], "\nptxas application ptx input, line 3; error   : no version\nptxas fatal   : Ptx assembly aborted");
		return strstr(image, ".version 9.9") ? 222 : INVALID_PTX;
	}
	modules++;
	*m = strdup(image);
	return 0;
}
int cuModuleUnload(void *m) { IN_CONTEXT(); free(m); modules--; return 0; }
int cuModuleGetFunction(function **f, char *m, const char *name) {
	IN_CONTEXT();
	char head[64];
	snprintf(head, sizeof head, ".entry %s(", name);
	char *at = strstr(m, head);
	if (!at) return NOT_FOUND;
	*f = calloc(1, sizeof **f);
	snprintf((*f)->name, sizeof (*f)->name, "%s", name);
	for (char *end = strchr(at, ')'); (at = strstr(at, ".param .")) && at < end; at++)
		(*f)->size[(*f)->count++] = at[9] == '6' ? 8 : 4; // .u64, or .u32 and .f32
	return 0;
}
#ifndef NO_PARAMETERS
int cuFuncGetParamInfo(function *f, size_t i, size_t *offset, size_t *size) {
	IN_CONTEXT();
	if (i >= (size_t)f->count) return INVALID_VALUE;
	*offset = 8 * i;
	*size = f->size[i];
	return 0;
}
#endif
int cuLaunchKernel(function *f, u32 gx, u32 gy, u32 gz, u32 bx, u32 by, u32 bz, u32 shared, void *s, void **values, void **extra) {
	IN_CONTEXT(); ON(s);
	if (!gx || gx > 0x7fffffff || gy != 1 || gz != 1 || !bx || bx > 1024 || by != 1 || bz != 1 || shared || extra) return INVALID_VALUE;
	launches++;
	last.f = *f;
	last.grid[0] = gx, last.grid[1] = gy, last.grid[2] = gz, last.block[0] = bx, last.block[1] = by, last.block[2] = bz;
	memset(last.value, 0, sizeof last.value);
	for (int i = 0; i < f->count; i++)
		memcpy(&last.value[i], values[i], f->size[i]);
	if (strcmp(f->name, "scale")) return 0;
	if (!inside(last.value[0], 4 * (u32)last.value[1])) return 700;
	return push(s, (struct work){.kind = LAUNCH, .value = {last.value[0], last.value[1], last.value[2]}, .threads = gx * bx});
}

int cuEventCreate(struct event **e, u32 flags) { IN_CONTEXT(); *e = calloc(1, sizeof **e); (*e)->live = 1; events++; return flags ? INVALID_VALUE : 0; }
int cuEventDestroy_v2(struct event *e) { IN_CONTEXT(); if (!e->live) return INVALID_HANDLE; e->live = 0; events--; return 0; }
int cuEventRecord(struct event *e, void *s) { IN_CONTEXT(); ON(s); e->done = 0; e->stream = s; return push(s, (struct work){.kind = RECORD, .event = e}); }
#ifndef NO_WAIT
int cuStreamWaitEvent(void *s, struct event *e, u32 flags) { IN_CONTEXT(); ON(s); return e->live && !flags ? push(s, (struct work){.kind = WAIT, .event = e}) : INVALID_HANDLE; }
#endif
