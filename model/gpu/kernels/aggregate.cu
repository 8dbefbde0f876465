// What an updated entity hears in a layer: the reduction of its messages. A warp holds a set of messages, a lane PER of its
// dimensions.
#include "model.cuh"

struct Members {
	float sum[PER], squares[PER], most[PER], least[PER];
	int highest[PER], lowest[PER]; // the edge of the first message that attains an extreme; -1: what is no message does
	int admitted, empty;           // edges that the window admits, and those of them whose message is empty and not sent
};

// start makes a set of the boundary: the query's embedding at the source, else 0. Of the sets that are merged, the first
// alone counts it in its sums.
DEVICE void start(const Batch *p, Members &m, const Row &row, bool first) {
#pragma unroll
	for (int j = 0; j < PER; j++) {
		float boundary = row.flags & SOURCE ? query_embedding(p, row.query)[threadIdx.x % 32 + 32 * j] : 0.0f;
		m.most[j] = m.least[j] = boundary;
		m.sum[j] = first ? boundary : 0.0f;
		m.squares[j] = m.sum[j] * m.sum[j];
		m.highest[j] = m.lowest[j] = -1;
	}
	m.admitted = m.empty = 0;
}

// add adds a message of a later edge than those before.
DEVICE void add(Members &m, int j, float x, int e) {
	m.sum[j] += x;
	m.squares[j] = fmaf(x, x, m.squares[j]);
	m.highest[j] = x > m.most[j] ? e : m.highest[j];
	m.most[j] = fmaxf(m.most[j], x);
	m.lowest[j] = x < m.least[j] ? e : m.lowest[j];
	m.least[j] = fminf(m.least[j], x);
}

// hear adds the messages along in-edges begin to end of an entity: each lane reads an edge, then the warp takes four at a time of
// those that carry a message, in order.
DEVICE void hear(const Batch *p, Members &m, const Row &row, int t, int begin, int end) {
	const int *__restrict__ senders = p->senders, *__restrict__ relations = p->relations;
	const byte *__restrict__ distances = p->distances + (long long)row.query * p->entities;
	const float *__restrict__ states = p->states + threadIdx.x % 32, *__restrict__ embeddings = embedding_of(p, row.query, t, 0) + threadIdx.x % 32;
	int lane = threadIdx.x % 32, window = min(row.distance + p->delta, p->layers + 1);
	for (int first = begin; first < end; first += 32) {
		int from = 0, relation = 0, e = first + lane;
		bool sent = false, admitted = false;
		if (e < end) {
			int u = senders[e], far = distances[u];
			relation = relations[e];
			if (!(row.flags & TOUCHED) || !removed(p->queries[row.query], u, relation, row.entity)) {
				admitted = far < window;
				sent = far < t;
				from = ((t - 1 - far) * p->batch + row.query) * p->entities + u;
			}
		}
		unsigned bits = __ballot_sync(ALL, sent);
		m.admitted += __popc(__ballot_sync(ALL, admitted));
		m.empty += __popc(__ballot_sync(ALL, admitted && !sent));
		while (bits) {
			int next[4];
			float x[4][PER], w[4][PER];
#pragma unroll
			for (int k = 0; k < 4; k++) {
				next[k] = __ffs(bits) - 1;
				bits &= bits - 1;
				int state = __shfl_sync(ALL, from, max(next[k], 0)), r = __shfl_sync(ALL, relation, max(next[k], 0));
#pragma unroll
				for (int j = 0; j < PER; j++) {
					x[k][j] = next[k] < 0 ? 0.0f : states[(long long)state * DIM + 32 * j];
					w[k][j] = next[k] < 0 ? 0.0f : embeddings[r * DIM + 32 * j];
				}
			}
#pragma unroll
			for (int k = 0; k < 4; k++)
				if (next[k] >= 0) {
#pragma unroll
					for (int j = 0; j < PER; j++) add(m, j, x[k][j] * w[k][j], first + next[k]);
				}
		}
	}
}

// include adds a value that is no message to the extremes.
DEVICE void include(Members &m, int j, float x) {
	if (x >= m.most[j]) {
		m.most[j] = x;
		m.highest[j] = -1;
	}
	if (x <= m.least[j]) {
		m.least[j] = x;
		m.lowest[j] = -1;
	}
}

// finish adds what is not a message and writes the features of row i.
DEVICE void finish(const Batch *p, Members &m, const Row &row, int i, int t) {
	int lane = threadIdx.x % 32, copies = row.degree - m.admitted;
	float divisor = p->scales[row.degree].divisor, *out = p->features + feature_row(p, t, i) * WIDTH;
	const float *before = p->states + ((long long)((t - row.distance - 1) * p->batch + row.query) * p->entities + row.entity) * DIM;
#pragma unroll
	for (int j = 0; j < PER; j++) {
		int dim = lane + 32 * j;
		if (p->degree_messages && copies > 0) {
			float x = p->parameters[(long long)(t - 1) * p->layer_size + p->degree_at + dim];
			m.sum[j] = fmaf(x, copies, m.sum[j]);
			m.squares[j] = fmaf(x * copies, x, m.squares[j]);
			include(m, j, x);
		}
		if (row.flags & SOURCE && m.empty > 0) include(m, j, 0.0f); // an empty message is zero; elsewhere the boundary is
		float mean = m.sum[j] * divisor, deviation = sqrtf(fmaxf(fmaf(-mean, mean, m.squares[j] * divisor), 1e-6f));
		if (dim >= p->live) deviation = 0;
		if (p->training) {
			p->attained[(long long)i * 2 * DIM + dim] = m.highest[j];
			p->attained[(long long)i * 2 * DIM + DIM + dim] = m.lowest[j];
		}
		bool pna = p->reduction == PNA;
		out[dim] = t > row.distance ? before[dim] : 0.0f;
		out[DIM + dim] = p->reduction == SUM ? m.sum[j] : p->reduction == MAX ? m.most[j] : mean;
		out[2 * DIM + dim] = pna ? m.most[j] : 0.0f;
		out[3 * DIM + dim] = pna ? m.least[j] : 0.0f;
		out[4 * DIM + dim] = pna ? deviation : 0.0f;
	}
	if (lane == 0) {
		p->row_admitted[i] = m.admitted;
		p->row_sent[i] = m.admitted - m.empty;
	}
}

// Light entities, a warp each.
SHARING(128, DIM == 32 ? 8 : 6) aggregate(const Batch *p, int t) {
	int end = end_row(p, t);
	for (int i = light_row(p, t) + blockIdx.x * 4 + threadIdx.x / 32; i < end; i += gridDim.x * 4) {
		Row row = p->rows[i];
		Members m;
		start(p, m, row, true);
		hear(p, m, row, t, row.begin, row.end);
		finish(p, m, row, i, t);
	}
}

// Heavy entities, a block each, whose warps take equal parts of the edges. Then the first warp merges their sets, in order.
SHARING(32 * HEAVY_WARPS, 3) aggregate_heavy(const Batch *p, int t) {
	__shared__ Members sets[HEAVY_WARPS][32];
	int end = light_row(p, t), warp = threadIdx.x / 32, lane = threadIdx.x % 32;
	for (int i = first_row(p, t) + blockIdx.x; i < end; i += gridDim.x) {
		Row row = p->rows[i];
		Members m;
		start(p, m, row, warp == 0);
		hear(p, m, row, t, share_begin(row, warp), share_begin(row, warp + 1));
		sets[warp][lane] = m;
		__syncthreads();
		if (warp == 0) {
#pragma unroll 1
			for (int w = 1; w < HEAVY_WARPS; w++) {
				const Members &other = sets[w][lane];
#pragma unroll
				for (int j = 0; j < PER; j++) {
					m.sum[j] += other.sum[j];
					m.squares[j] += other.squares[j];
					m.highest[j] = other.most[j] > m.most[j] ? other.highest[j] : m.highest[j];
					m.most[j] = fmaxf(m.most[j], other.most[j]);
					m.lowest[j] = other.least[j] < m.least[j] ? other.lowest[j] : m.lowest[j];
					m.least[j] = fminf(m.least[j], other.least[j]);
				}
				m.admitted += other.admitted;
				m.empty += other.empty;
			}
			finish(p, m, row, i, t);
		}
		__syncthreads();
	}
}

// The messages of every layer and query: a block adds the counts of its rows.
KERNEL(256) count_sent(const Batch *p) {
	__shared__ long long sums[8];
	int t = blockIdx.x / p->batch + 1, b = blockIdx.x % p->batch;
	long long sum = 0;
	for (int light = 0; light < 2; light++) {
		int at = (t * 2 + light) * p->batch + b, end = p->starts[at] + p->counts[at];
		for (int i = p->starts[at] + threadIdx.x; i < end; i += 256) sum += p->row_sent[i];
	}
#pragma unroll
	for (int lanes = 1; lanes < 32; lanes *= 2) sum += __shfl_xor_sync(ALL, sum, lanes);
	if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
	__syncthreads();
	if (threadIdx.x == 0) {
		for (int w = 1; w < 8; w++) sum += sums[w];
		p->sent[blockIdx.x] = sum;
	}
}
