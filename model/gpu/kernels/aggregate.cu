// What an updated entity hears in a layer: the reduction of its messages.
#include "model.cuh"

// Members is a set of messages, four dimensions a lane.
struct Members {
	float4 sum, squares, most, least;
	int4 highest, lowest; // the edges of the first message that attains an extreme; -1: what is no message does
	int admitted, empty; // edges that the window admits, and those of them whose message is empty and not sent
};

// start makes a set of the boundary: the query's embedding at the source, else 0. Of the sets that are merged, the first
// alone counts it in its sums.
DEVICE void start(Members &m, float4 boundary, bool first) {
	m.most = m.least = boundary;
	m.sum = first ? boundary : zero4();
	m.squares = mul4(m.sum, m.sum);
	m.highest = m.lowest = make_int4(-1, -1, -1, -1);
	m.admitted = m.empty = 0;
}

// raise and lower replace an extreme by a later one, and one by an equal one of a smaller edge.
DEVICE void raise(float &extreme, int &edge, float x, int e) {
	if (x > extreme || (x == extreme && e < edge)) {
		extreme = x;
		edge = e;
	}
}

DEVICE void lower(float &extreme, int &edge, float x, int e) {
	if (x < extreme || (x == extreme && e < edge)) {
		extreme = x;
		edge = e;
	}
}

DEVICE void extend(Members &m, float4 most, int4 highest, float4 least, int4 lowest) {
	raise(m.most.x, m.highest.x, most.x, highest.x);
	raise(m.most.y, m.highest.y, most.y, highest.y);
	raise(m.most.z, m.highest.z, most.z, highest.z);
	raise(m.most.w, m.highest.w, most.w, highest.w);
	lower(m.least.x, m.lowest.x, least.x, lowest.x);
	lower(m.least.y, m.lowest.y, least.y, lowest.y);
	lower(m.least.z, m.lowest.z, least.z, lowest.z);
	lower(m.least.w, m.lowest.w, least.w, lowest.w);
}

// later replaces an extreme by one of a later edge.
DEVICE void later(float &extreme, int &edge, bool more, float x, int e) {
	extreme = more ? x : extreme;
	edge = more ? e : edge;
}

// add adds a message of a later edge than those before.
DEVICE void add(Members &m, float4 x, int e) {
	m.sum = add4(m.sum, x);
	m.squares = fma4(x, x, m.squares);
	later(m.most.x, m.highest.x, x.x > m.most.x, x.x, e);
	later(m.most.y, m.highest.y, x.y > m.most.y, x.y, e);
	later(m.most.z, m.highest.z, x.z > m.most.z, x.z, e);
	later(m.most.w, m.highest.w, x.w > m.most.w, x.w, e);
	later(m.least.x, m.lowest.x, x.x < m.least.x, x.x, e);
	later(m.least.y, m.lowest.y, x.y < m.least.y, x.y, e);
	later(m.least.z, m.lowest.z, x.z < m.least.z, x.z, e);
	later(m.least.w, m.lowest.w, x.w < m.least.w, x.w, e);
}

DEVICE int4 across_int4(int4 a, int lanes) {
	return make_int4(__shfl_xor_sync(ALL, a.x, lanes), __shfl_xor_sync(ALL, a.y, lanes), __shfl_xor_sync(ALL, a.z, lanes), __shfl_xor_sync(ALL, a.w, lanes));
}

// hear adds the messages along in-edges begin to end of an entity: each lane reads an edge, then each team takes every TEAMS-th of
// those that carry a message, two at a time.
DEVICE void hear(const Batch *p, Members &m, const Row &row, int t, int begin, int end) {
	const float4 *__restrict__ states = (const float4 *)p->states;
	const float4 *__restrict__ embeddings = (const float4 *)embedding_of(p, row.query, t, 0);
	int lane = threadIdx.x % 32, team = lane / LANES, part = lane % LANES, window = min(row.distance + p->delta, p->layers + 1);
	for (int first = begin; first < end; first += 32) {
		int from = 0, relation = 0, e = first + lane;
		bool sent = false, admitted = false;
		if (e < end) {
			int u = p->senders[e], far = p->distances[(long long)row.query * p->entities + u];
			relation = p->relations[e];
			if (!(row.flags & TOUCHED) || !removed(p->queries[row.query], u, relation, row.entity)) {
				admitted = far < window;
				sent = far < t; // the message of a state of 0 is 0
				from = far < t ? ((t - 1 - far) * p->batch + row.query) * p->entities + u : -1;
			}
		}
		unsigned bits = __ballot_sync(ALL, sent);
		m.admitted += __popc(__ballot_sync(ALL, admitted));
		m.empty += __popc(__ballot_sync(ALL, admitted && !sent));
		int count = __popc(bits);
#pragma unroll
		for (int i = 0; i < TEAMS - 1; i++)
			if (i < team) bits &= bits - 1;
		for (int k = 0; k < count; k += 2 * TEAMS) {
			int next[2];
			float4 x[2], w[2];
#pragma unroll
			for (int j = 0; j < 2; j++) {
				next[j] = __ffs(bits) - 1;
#pragma unroll
				for (int i = 0; i < TEAMS; i++) bits &= bits - 1;
				int state = __shfl_sync(ALL, from, max(next[j], 0)), r = __shfl_sync(ALL, relation, max(next[j], 0));
				x[j] = next[j] < 0 ? zero4() : states[(long long)state * LANES + part];
				w[j] = next[j] < 0 ? zero4() : embeddings[r * LANES + part];
			}
#pragma unroll
			for (int j = 0; j < 2; j++)
				if (next[j] >= 0) add(m, message_of(x[j], w[j]), first + next[j]);
		}
	}
}

// merge_teams adds the teams' sets; every lane gets the whole.
DEVICE void merge_teams(Members &m) {
#pragma unroll
	for (int lanes = LANES; lanes < 32; lanes *= 2) {
		m.sum = add4(m.sum, across4(m.sum, lanes));
		m.squares = add4(m.squares, across4(m.squares, lanes));
		extend(m, across4(m.most, lanes), across_int4(m.highest, lanes), across4(m.least, lanes), across_int4(m.lowest, lanes));
	}
}

DEVICE float deviation(float squares, float mean, float divisor) {
	return sqrtf(fmaxf(fmaf(-mean, mean, squares * divisor), 1e-6f));
}

// finish adds what is not a message and writes the features. All lanes have the same set; team i writes feature i.
DEVICE void finish(const Batch *p, Members &m, int i, int t) {
	const Row row = p->rows[i]; // again: registers are scarce while messages are read
	int lane = threadIdx.x % 32, team = lane / LANES, part = lane % LANES, age = t - row.distance;
	int4 none = make_int4(-1, -1, -1, -1);
	if (p->degree_messages) {
		float4 x = at4(p->parameters + (long long)(t - 1) * p->layer_size + p->degree_at, part);
		int count = row.degree - m.admitted;
		if (count > 0) {
			float copies = count;
			m.sum = fma4(x, make_float4(copies, copies, copies, copies), m.sum);
			m.squares = fma4(scale4(x, copies), x, m.squares);
			extend(m, x, none, x, none);
		}
	}
	if (row.flags & SOURCE && m.empty > 0) { // an empty message that is not sent is zero; elsewhere the boundary is
		extend(m, zero4(), none, zero4(), none);
	}
	float divisor = p->scales[row.degree].divisor;
	float4 own = zero4(), mean = scale4(m.sum, divisor), deviations;
	if (age > 0) own = at4(p->states, ((long long)((age - 1) * p->batch + row.query) * p->entities + row.entity) * LANES + part);
	deviations.x = deviation(m.squares.x, mean.x, divisor);
	deviations.y = deviation(m.squares.y, mean.y, divisor);
	deviations.z = deviation(m.squares.z, mean.z, divisor);
	deviations.w = deviation(m.squares.w, mean.w, divisor);
	if (4 * part >= p->live) deviations.x = 0;
	if (4 * part + 1 >= p->live) deviations.y = 0;
	if (4 * part + 2 >= p->live) deviations.z = 0;
	if (4 * part + 3 >= p->live) deviations.w = 0;
	if (p->reduction == SUM) mean = m.sum;
	if (p->reduction == MAX) mean = m.most;
	float *out = p->features + feature_row(p, t, i) * p->width;
	for (int f = team; f * DIM < p->width; f += TEAMS) put4(out, f * LANES + part, f == 0 ? own : f == 1 ? mean : f == 2 ? m.most : f == 3 ? m.least : deviations);
	if (p->training && has_extremes(p) && lane < LANES) {
		((int4 *)p->attained)[(long long)i * 2 * LANES + part] = m.highest;
		((int4 *)p->attained)[(long long)i * 2 * LANES + LANES + part] = m.lowest;
	}
	if (lane == 0) {
		p->row_admitted[i] = m.admitted;
		p->row_sent[i] = m.admitted - m.empty;
	}
}

// The first blocks take heavy entities, whose edges their warps share before a thread merges one dimension of their sets; the others
// take light ones, a warp each.
SHARING(32 * HEAVY_WARPS, 3) aggregate(const Batch *p, int t, int heavy) {
	__shared__ float4 sums[HEAVY_WARPS][LANES], squares[HEAVY_WARPS][LANES], most[HEAVY_WARPS][LANES], least[HEAVY_WARPS][LANES];
	__shared__ int4 highest[HEAVY_WARPS][LANES], lowest[HEAVY_WARPS][LANES];
	__shared__ int admitted[HEAVY_WARPS], empty[HEAVY_WARPS];
	int warp = threadIdx.x / 32, lane = threadIdx.x % 32, team = lane / LANES, part = lane % LANES;
	bool light = blockIdx.x >= heavy;
	int end = light ? end_row(p, t) : light_row(p, t), step = light ? (gridDim.x - heavy) * HEAVY_WARPS : heavy;
	for (int i = light ? light_row(p, t) + (blockIdx.x - heavy) * HEAVY_WARPS + warp : first_row(p, t) + blockIdx.x; i < end; i += step) {
		Row row = p->rows[i];
		Members m;
		start(m, row.flags & SOURCE ? at4(query_embedding(p, row.query), part) : zero4(), team == 0 && (light || warp == 0));
		hear(p, m, row, t, light ? row.begin : share_begin(row, warp), light ? row.end : share_begin(row, warp + 1));
		merge_teams(m);
		if (light) {
			finish(p, m, i, t);
			continue;
		}
		if (team == 0) {
			sums[warp][part] = m.sum;
			squares[warp][part] = m.squares;
			most[warp][part] = m.most;
			least[warp][part] = m.least;
			highest[warp][part] = m.highest;
			lowest[warp][part] = m.lowest;
		}
		if (lane == 0) {
			admitted[warp] = m.admitted;
			empty[warp] = m.empty;
		}
		__syncthreads();
		auto merge = [&](int k) {
			int j = k % DIM;
			if (k < DIM) {
				for (int w = 1; w < HEAVY_WARPS; w++) {
					((float *)sums)[j] += ((float *)sums[w])[j];
					((float *)squares)[j] += ((float *)squares[w])[j];
				}
			} else if (k < 2 * DIM) {
				float extreme = ((float *)most)[j];
				int edge = ((int *)highest)[j];
				for (int w = 1; w < HEAVY_WARPS; w++) raise(extreme, edge, ((float *)most[w])[j], ((int *)highest[w])[j]);
				((float *)most)[j] = extreme;
				((int *)highest)[j] = edge;
			} else if (k < 3 * DIM) {
				float extreme = ((float *)least)[j];
				int edge = ((int *)lowest)[j];
				for (int w = 1; w < HEAVY_WARPS; w++) lower(extreme, edge, ((float *)least[w])[j], ((int *)lowest[w])[j]);
				((float *)least)[j] = extreme;
				((int *)lowest)[j] = edge;
			}
		};
		merge(threadIdx.x);
		if (3 * DIM > 32 * HEAVY_WARPS) merge(threadIdx.x + 32 * HEAVY_WARPS);
		__syncthreads();
		if (warp == 0) {
			m = {sums[0][part], squares[0][part], most[0][part], least[0][part], highest[0][part], lowest[0][part], 0, 0};
			for (int w = 0; w < HEAVY_WARPS; w++) {
				m.admitted += admitted[w];
				m.empty += empty[w];
			}
			finish(p, m, i, t);
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
