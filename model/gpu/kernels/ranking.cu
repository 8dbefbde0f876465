// dims: none
// Ranks and best candidates from the scores of all entities.
#include "model.cuh"

DEVICE int sum_counts(int x, int *space) {
#pragma unroll
	for (int lanes = 1; lanes < 32; lanes *= 2) x += __shfl_xor_sync(ALL, x, lanes);
	__syncthreads();
	if (threadIdx.x % 32 == 0) space[threadIdx.x / 32] = x;
	__syncthreads();
	x = 0;
	for (int i = 0; i < 8; i++) x += space[i];
	return x;
}

// How many of a query's scores are NaN or infinite. A block a query.
KERNEL(256) check_scores(const Batch *p, int *bad) {
	__shared__ int space[8];
	const float *scores = p->scores + (long long)blockIdx.x * p->entities;
	int count = 0;
	for (int v = threadIdx.x; v < p->entities; v += 256) count += !(fabsf(scores[v]) <= 3.402823466e38f);
	count = sum_counts(count, space);
	if (threadIdx.x == 0) bad[blockIdx.x] = count;
}

// How many entities score not lower than an answer and how many higher, without the known answers beside it: NaN counts against
// the answer. answers has the query and the entity of each; known those of a query from known_begin on. A block an answer.
// out: the answer's score as bits, its distance, not lower, higher, candidates.
KERNEL(256) rank(const Batch *p, const Answer *answers, const int *known_begin, const int *known, int *out) {
	__shared__ int space[8];
	Answer answer = answers[blockIdx.x];
	const float *scores = p->scores + (long long)answer.query * p->entities;
	float own = scores[answer.entity];
	int not_lower = 0, higher = 0, left_out = 0;
	for (int v = threadIdx.x; v < p->entities; v += 256) {
		not_lower += !(scores[v] < own);
		higher += !(scores[v] <= own);
	}
	int end = known_begin[answer.query + 1];
	for (int k = known_begin[answer.query] + threadIdx.x; k < end; k += 256) {
		if (known[k] == answer.entity) continue;
		left_out++;
		not_lower -= !(scores[known[k]] < own);
		higher -= !(scores[known[k]] <= own);
	}
	not_lower = sum_counts(not_lower, space);
	higher = sum_counts(higher, space);
	left_out = sum_counts(left_out, space);
	if (threadIdx.x == 0) {
		int *to = out + (long long)blockIdx.x * 5;
		to[0] = __float_as_int(own);
		to[1] = p->reached[(long long)answer.query * p->entities + answer.entity];
		to[2] = not_lower;
		to[3] = higher;
		to[4] = p->entities - left_out;
	}
}

// ahead reports whether entity v, of score s, comes before entity w, of score t: higher scores first, equal ones by smaller id, NaN last.
DEVICE bool ahead(float s, int v, float t, int w) {
	if (s == t || (s != s && t != t)) return v < w;
	return s > t || t != t;
}

// The candidates of highest score, each found behind the one before. A block a query. out: entity, score as bits, distance.
KERNEL(256) best(const Batch *p, int k, int *out) {
	__shared__ float space[8];
	__shared__ int places[8];
	int b = blockIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32, before = -1;
	const float *scores = p->scores + (long long)b * p->entities;
	float limit = 0;
	for (int i = 0; i < k; i++) {
		float highest = 0;
		int place = -1;
		for (int v = threadIdx.x; v < p->entities; v += 256) {
			float s = scores[v];
			if (before >= 0 && !ahead(limit, before, s, v)) continue;
			if (place < 0 || ahead(s, v, highest, place)) {
				highest = s;
				place = v;
			}
		}
#pragma unroll
		for (int lanes = 1; lanes < 32; lanes *= 2) {
			float s = __shfl_xor_sync(ALL, highest, lanes);
			int v = __shfl_xor_sync(ALL, place, lanes);
			if (v >= 0 && (place < 0 || ahead(s, v, highest, place))) {
				highest = s;
				place = v;
			}
		}
		if (lane == 0) {
			space[warp] = highest;
			places[warp] = place;
		}
		__syncthreads();
		highest = space[0];
		place = places[0];
		for (int w = 1; w < 8; w++)
			if (places[w] >= 0 && (place < 0 || ahead(space[w], places[w], highest, place))) {
				highest = space[w];
				place = places[w];
			}
		__syncthreads();
		limit = highest;
		before = place;
		if (threadIdx.x == 0) {
			int *to = out + ((long long)b * k + i) * 3;
			to[0] = place;
			to[1] = __float_as_int(highest);
			to[2] = p->reached[(long long)b * p->entities + place];
		}
	}
}
