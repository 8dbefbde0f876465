// dims: none
// The rows of each layer by degree, over all queries. A degree decides the scalers of a row, so rows of equal degree have one linear map.
#include "model.cuh"

#define SPANS 512 // of a layer, beside one for each degree and end

// By place: a layer's rows of an entity. A thread an entity of a layer.
KERNEL(256) strips_count(const Batch *p) {
	long long i = (long long)blockIdx.x * 256 + threadIdx.x;
	if (i >= (long long)p->layers * p->entities) return;
	int t = i / p->entities, place = i % p->entities, v = p->by_degree[place], rows = 0;
	for (int b = 0; b < p->batch; b++) rows += p->active[((long long)(t + 1) * p->batch + b) * p->entities + v] && end_of(p, b, v) < 0;
	p->places[i + t] = rows;
}

// Where the strips of each degree begin, and the spans. A block a layer, whose threads take successive places, then degrees.
KERNEL(1024) strips_start(const Batch *p) {
	__shared__ int sums[3][32];
	int t = blockIdx.x, thread = threadIdx.x, all, sum = 0;
	int *places = p->places + (long long)t * (p->entities + 1), *strips = p->strip_begin + t * (p->degrees + 1);
	int each = (p->entities + 1023) / 1024, from = min(thread * each, p->entities), to = min(from + each, p->entities);
	for (int i = from; i < to; i++) sum += places[i];
	int next = sum_before(sum, sums[0], all);
	for (int i = from; i < to; i++) {
		int rows = places[i];
		places[i] = next;
		next += rows;
	}
	if (thread == 0) places[p->entities] = all;
	__syncthreads();
	auto rows_of = [&](int k) { return places[p->degree_begin[k + 1]] - places[p->degree_begin[k]]; };
	auto strips_of = [&](int k) { return (rows_of(k) + STRIP - 1) / STRIP; };
	each = (p->degrees + 1023) / 1024;
	from = min(thread * each, p->degrees);
	to = min(from + each, p->degrees);
	sum = 0;
	for (int k = from; k < to; k++) sum += strips_of(k);
	next = sum_before(sum, sums[1], all);
	for (int k = from; k < to; k++) {
		strips[k] = next;
		next += strips_of(k);
	}
	if (thread == 0) strips[p->degrees] = all;
	if (!p->training) return;
	int size = max(1, (all + SPANS - 1) / SPANS), end = all; // strips of a span
	sum = 0;
	for (int k = from; k < to; k++) sum += (strips_of(k) + size - 1) / size;
	next = sum_before(sum, sums[2], all);
	Span *spans = p->spans + t * p->span_stride;
	for (int k = from; k < to; k++)
		for (int strip = strips[k], rows = rows_of(k); rows > 0; strip += size, rows -= STRIP * size)
			spans[next++] = {strip, min(rows, STRIP * size)};
	for (int i = thread; i < ends(p); i += 1024) spans[all + i] = {end + i, 1};
	if (thread == 0) p->span_counts[t] = all + ends(p);
}

// Writes the rows of strips, all of which were 0. A thread an entity of a layer.
KERNEL(256) strips_write(const Batch *p) {
	long long i = (long long)blockIdx.x * 256 + threadIdx.x;
	if (i >= (long long)p->layers * p->entities) return;
	int t = i / p->entities, place = i % p->entities, v = p->by_degree[place], degree = p->degree_of[place];
	const int *begin = p->strip_begin + t * (p->degrees + 1);
	int *rows = p->strips + (long long)t * p->strip_stride * STRIP;
	int next = begin[degree] * STRIP + p->places[i + t] - p->places[(long long)t * (p->entities + 1) + p->degree_begin[degree]];
	for (int b = 0; b < p->batch; b++) {
		long long of = ((long long)(t + 1) * p->batch + b) * p->entities + v;
		if (!p->active[of]) continue;
		int end = end_of(p, b, v);
		rows[end < 0 ? next++ : (begin[p->degrees] + end) * STRIP] = p->row_numbers[of];
	}
}
