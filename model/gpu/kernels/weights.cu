// Gradients of the linear maps: of their inputs, and of their weights as sums over rows.
#include "model.cuh"

#define ROWS (DIM > 64 ? 32 : 64) // of a block of feature_gradients, as shared memory allows; a thread computes 4 rows by 4 dimensions of the five kinds of features
#define TILE (512 / DIM)  // outputs at a time
#define THREADS (ROWS / 4 * LANES)
#define GROUP 16          // rows that weight_partial reads at a time
#define SHARE (4 * GROUP) // rows that make it worth splitting their sum further

// multiply adds the products of a tile of outputs for features of the kinds from `kind`. a and w are at the thread's rows and
// dimensions; the first kind has the scaler 1 alone.
template <int kind>
DEVICE void multiply(float (&c)[5][4][4], const float4 *a, const float4 *w, const float (&scale)[4]) {
#pragma unroll 2
	for (int n = 0; n < TILE; n++, a += ROWS / 4 + 1, w += WIDTH / 4) {
		float4 xs = a[0];
		float x[4] = {xs.x, xs.y, xs.z, xs.w};
#pragma unroll
		for (int i = 0; i < 4; i++)
			if (kind > 0) x[i] *= scale[i];
#pragma unroll
		for (int k = kind; k < 5; k++) {
			float4 ys = w[k * LANES];
			float y[4] = {ys.x, ys.y, ys.z, ys.w};
#pragma unroll
			for (int i = 0; i < 4; i++)
#pragma unroll
				for (int j = 0; j < 4; j++) c[k][i][j] = fmaf(x[i], y[j], c[k][i][j]);
		}
	}
}

// Gradients of a layer's features: [n, COLUMNS] x [COLUMNS, WIDTH]. While a block computes on a tile of weights it reads the next
// one.
SHARING(THREADS, PER == 1 ? 3 : 1) feature_gradients(const Batch *p, int t) {
	__shared__ float4 a[DIM][ROWS / 4 + 1]; // by output: rows, before the scalers
	__shared__ float4 w[2][TILE][WIDTH / 4];
	__shared__ float ups[ROWS], downs[ROWS];
	constexpr int tiles = COLUMNS / TILE, size = TILE * WIDTH / 4, each = (size + THREADS - 1) / THREADS;
	int begin = first_row(p, t), end = end_row(p, t), thread = threadIdx.x, part = thread % LANES, four = thread / LANES;
	const float *maps = p->transposed + (long long)(t - 1) * WIDTH * COLUMNS;
	for (int first = begin + blockIdx.x * ROWS; first < end; first += gridDim.x * ROWS) {
		int last = min(ROWS, end - first) - 1; // rows behind it are computed as it is, and not written
		float4 ys[each];
		auto read = [&](int tile) {
#pragma unroll
			for (int i = 0; i < each; i++)
				if (size % THREADS == 0 || thread + i * THREADS < size) ys[i] = at4(maps, tile * size + thread + i * THREADS);
		};
		auto keep = [&](int b) {
#pragma unroll
			for (int i = 0; i < each; i++)
				if (size % THREADS == 0 || thread + i * THREADS < size) (&w[b][0][0])[thread + i * THREADS] = ys[i];
		};
		read(0);
#pragma unroll
		for (int i = 0; i < ROWS * LANES / THREADS; i++) {
			int r = thread % (ROWS / 4) + ROWS / 4 * i, o = thread / (ROWS / 4);
			float4 x = at4(p->linear, (long long)(first + min(r, last)) * LANES + o);
			float *to = (float *)&a[4 * o][0] + r;
			to[0] = x.x;
			to[ROWS + 4] = x.y;
			to[2 * (ROWS + 4)] = x.z;
			to[3 * (ROWS + 4)] = x.w;
		}
		if (thread < ROWS) {
			Scale scale = p->scales[p->row_degree[first + min(thread, last)]];
			ups[thread] = scale.up;
			downs[thread] = scale.down;
		}
		keep(0);
		float c[5][4][4];
#pragma unroll
		for (int k = 0; k < 5; k++)
#pragma unroll
			for (int i = 0; i < 4; i++)
#pragma unroll
				for (int j = 0; j < 4; j++) c[k][i][j] = 0;
		float scale[4] = {1, 1, 1, 1};
		__syncthreads();
#pragma unroll 1
		for (int tile = 0; tile < tiles; tile++) {
			int b = tile % 2, s = tile / (tiles / 3);
			const float4 *rows = &a[tile % (tiles / 3) * TILE][four];
			if (tile + 1 < tiles) read(tile + 1);
			if (s == 0) {
				multiply<0>(c, rows, &w[b][0][part], scale);
			} else { // the own state has the first scaler alone
#pragma unroll
				for (int i = 0; i < 4; i++) scale[i] = s == 1 ? ups[4 * four + i] : downs[4 * four + i];
				multiply<1>(c, rows, &w[b][0][part], scale);
			}
			if (tile + 1 < tiles) keep(1 - b);
			__syncthreads();
		}
		float *out = p->feature_gradients + (long long)(first - begin) * WIDTH;
#pragma unroll
		for (int i = 0; i < 4; i++) {
			if (4 * four + i > last) continue;
#pragma unroll
			for (int k = 0; k < 5; k++) put4(out, (4 * four + i) * (WIDTH / 4) + k * LANES + part, make_float4(c[k][i][0], c[k][i][1], c[k][i][2], c[k][i][3]));
		}
	}
}

// The blocks that share the sums over n rows.
DEVICE int shares(const Batch *p, int n) { return min(p->parts, (n + SHARE - 1) / SHARE); }

// Partial sums of a layer's weight gradients: features of rows times the scaled gradients of their outputs. A block sums for 128
// features of reduced messages and 32 outputs under three scalers, and for 32 features of own states and those outputs under the
// first; a thread for 8 by 12 and 2 by 4. The blocks of a tile share the rows by groups of 16. While a block computes on a group it
// reads the next one.
SHARING(128, 3) weight_partial(const Batch *p, int t) {
	__shared__ float4 x[2][GROUP][40], g[2][GROUP][24]; // by row: features, of own states first; gradients
	int begin = first_row(p, t), end = end_row(p, t), thread = threadIdx.x, parts = shares(p, end - begin);
	int share = blockIdx.x / (PER * PER), tile = blockIdx.x % (PER * PER), features = tile / PER, outputs = tile % PER;
	if (share >= parts) return;
	int at = thread / 8, to = thread % 8, row = thread / 8, last = end - 1;
	const float *linear = p->linear;
	const Scale *scales = p->scales;
	const int *degrees = p->row_degree;
	float c[3][8][4], own[2][4];
#pragma unroll
	for (int j = 0; j < 4; j++) {
		own[0][j] = own[1][j] = 0;
#pragma unroll
		for (int s = 0; s < 3; s++)
#pragma unroll
			for (int i = 0; i < 8; i++) c[s][i][j] = 0;
	}
	float4 xs[5], y;
	Scale scale = {};
	// read reads a thread's share of a group: 20 features of a row, and 4 gradients. Rows behind the last one count as 0.
	auto read = [&](int first) {
		int r = first + row;
		const float *from = p->features + (long long)min(r, last) * WIDTH;
#pragma unroll
		for (int i = 0; i < 5; i++) xs[i] = at4(from, (i == 0 ? 8 * features : LANES + 32 * features + 8 * (i - 1)) + to);
		y = r < end ? at4(linear, (long long)r * LANES + 8 * outputs + to) : zero4();
	};
	auto keep = [&](int b) {
#pragma unroll
		for (int i = 0; i < 5; i++) x[b][row][8 * i + to] = xs[i];
		g[b][row][to] = y;
		g[b][row][8 + to] = scale4(y, scale.up);
		g[b][row][16 + to] = scale4(y, scale.down);
	};
	int step = parts * GROUP, first = begin + share * GROUP, degree = degrees[min(first + step + row, last)];
	scale = scales[degrees[min(first + row, last)]];
	read(first);
	keep(0);
	__syncthreads();
#pragma unroll 1
	for (int b = 0; first < end; first += step, b = 1 - b) {
		bool more = first + step < end;
		if (more) {
			read(first + step);
			scale = scales[degree];
			degree = degrees[min(first + 2 * step + row, last)];
		}
		const float4 *of = &x[b][0][8 + at], *along = &g[b][0][to];
		const float2 *two = (const float2 *)&x[b][0][0] + at;
#pragma unroll 1
		for (int r = 0; r < GROUP; r++, of += 40, two += 80, along += 24) {
			float4 low = of[0], high = of[16];
			float2 first_two = two[0];
			float v[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
			for (int s = 0; s < 3; s++) {
				float4 ys = along[8 * s];
				float u[4] = {ys.x, ys.y, ys.z, ys.w};
#pragma unroll
				for (int j = 0; j < 4; j++) {
#pragma unroll
					for (int i = 0; i < 8; i++) c[s][i][j] = fmaf(v[i], u[j], c[s][i][j]);
					if (s > 0) continue;
					own[0][j] = fmaf(first_two.x, u[j], own[0][j]);
					own[1][j] = fmaf(first_two.y, u[j], own[1][j]);
				}
			}
		}
		if (more) keep(1 - b);
		__syncthreads();
	}
	float *out = p->partial + (long long)share * WIDTH * COLUMNS;
#pragma unroll
	for (int i = 0; i < 2; i++)
		put4(out, (32 * features + 2 * at + i) * (COLUMNS / 4) + 8 * outputs + to, make_float4(own[i][0], own[i][1], own[i][2], own[i][3]));
#pragma unroll
	for (int i = 0; i < 8; i++)
#pragma unroll
		for (int s = 0; s < 3; s++)
			put4(out, (DIM + 128 * features + 64 * (i / 4) + 4 * at + i % 4) * (COLUMNS / 4) + s * LANES + 8 * outputs + to,
			     make_float4(c[s][i][0], c[s][i][1], c[s][i][2], c[s][i][3]));
}

// The weights' gradients: the partial sums, in the stored order. A block sums for 32 weights, each of its warps every eighth partial
// sum.
KERNEL(256) weight_sum(const Batch *p, int t) {
	__shared__ float sums[8][32];
	int columns = p->reduction == PNA ? 13 * DIM : 2 * DIM, lane = threadIdx.x % 32, warp = threadIdx.x / 32, i = blockIdx.x * 32 + lane;
	int f = i / COLUMNS, s = i % COLUMNS / DIM, o = i % DIM, at = stored(p->reduction, f, s), parts = shares(p, end_row(p, t) - first_row(p, t));
	if (at < 0) return; // as all of the block, whose weights are of one feature and scaler
	const float *partial = p->partial + i;
	float sum = 0;
#pragma unroll 8
	for (int part = warp; part < parts; part += 8) sum += partial[(long long)part * WIDTH * COLUMNS];
	sums[warp][lane] = sum;
	__syncthreads();
	if (warp > 0) return;
	for (int w = 1; w < 8; w++) sum += sums[w][lane];
	float *to = p->gradients + (long long)(t - 1) * p->layer_size + p->linear_at + o * columns + at;
	*to = p->accumulate ? *to + sum : sum;
}

#define VECTORS 4 // gradients of bias, scale, shift and degree message

// Partial sums of the gradients of a layer's vectors. A warp a part, a lane its dimensions.
KERNEL(32) vector_partial(const Batch *p, int t) {
	int begin = first_row(p, t), end = end_row(p, t), part = blockIdx.x;
	for (int j = threadIdx.x; j < DIM; j += 32) {
		float bias = 0, scale = 0, shift = 0, degree = 0;
		for (int i = begin + part; i < end; i += p->parts) {
			if (p->bias) {
				float a = p->affine[(long long)i * DIM + j];
				bias += p->linear[(long long)i * DIM + j];
				scale = fmaf(a, p->normalized[(long long)i * DIM + j], scale);
				shift += a;
			}
			if (p->degree_messages) degree += p->degree_gradients[(long long)(i - begin) * DIM + j];
		}
		float *out = p->partial + (long long)part * VECTORS * DIM + j;
		out[0] = bias;
		out[DIM] = scale;
		out[2 * DIM] = shift;
		out[3 * DIM] = degree;
	}
}

KERNEL(VECTORS *DIM) vector_sum(const Batch *p, int t) {
	int kind = threadIdx.x / DIM, j = threadIdx.x % DIM;
	if (kind < 3 ? !p->bias : !p->degree_messages) return;
	float sum = 0;
	for (int part = 0; part < p->parts; part++) sum += p->partial[(long long)part * VECTORS * DIM + threadIdx.x];
	int at = kind == 0 ? p->linear_bias_at : kind == 1 ? p->scale_at : kind == 2 ? p->shift_at : p->degree_at;
	float *to = p->gradients + (long long)(t - 1) * p->layer_size + at + j;
	*to = p->accumulate ? *to + sum : sum;
}

// Gradients of relation embeddings of all layers that no query changes: the sums over the queries.
KERNEL(256) relation_parameters(const Batch *p) {
	int size = p->relation_count * DIM, i = blockIdx.x * 256 + threadIdx.x;
	if (i >= p->layers * size) return;
	float sum = 0;
	for (int b = 0; b < p->batch; b++) sum += p->relation_gradients[((long long)b * p->layers + i / size) * size + i % size];
	float *to = p->gradients + (long long)(i / size) * p->layer_size + p->relation_at + i % size;
	*to = p->accumulate ? *to + sum : sum;
}

#define HELD (LANES > 16 ? 16 : LANES) // fours of dimensions that a thread has registers for

// Gradients of the maps that yield relation embeddings: an outer product a query. A thread an output.
KERNEL(128) relation_map(const Batch *p) {
	int outputs = p->relation_count * DIM;
	for (int i = blockIdx.x * 128 + threadIdx.x; i < p->layers * outputs; i += gridDim.x * 128) {
		int t = i / outputs, o = i % outputs;
		float *layer = p->gradients + (long long)t * p->layer_size, *to = layer + p->relation_at + (long long)o * DIM;
#pragma unroll 1
		for (int part = 0; part < LANES; part += HELD) {
			float4 w[HELD];
			float bias = 0;
#pragma unroll
			for (int j = 0; j < HELD; j++) w[j] = zero4();
			for (int b = 0; b < p->batch; b++) {
				float g = p->relation_gradients[((long long)b * p->layers + t) * outputs + o];
				const float *q = query_embedding(p, b);
				bias += g;
#pragma unroll
				for (int j = 0; j < HELD; j++) w[j] = fma4(at4(q, part + j), make_float4(g, g, g, g), w[j]);
			}
			if (part == 0) layer[p->relation_bias_at + o] = p->accumulate ? layer[p->relation_bias_at + o] + bias : bias;
#pragma unroll
			for (int j = 0; j < HELD; j++) put4(to, part + j, p->accumulate ? add4(at4(to, part + j), w[j]) : w[j]);
		}
	}
}

#define OUTPUTS 512 // of a block of relation_query

// The queries' embeddings' gradients through those maps, partial sums over 512 outputs. A block a query and piece; each of 8 warps
// takes every eighth TEAMS outputs.
KERNEL(256) relation_query(const Batch *p) {
	__shared__ float4 sums[8][LANES];
	int outputs = p->relation_count * DIM, pieces = (p->layers * outputs + OUTPUTS - 1) / OUTPUTS;
	int b = blockIdx.x / pieces, piece = blockIdx.x % pieces, end = min((piece + 1) * OUTPUTS, p->layers * outputs);
	int lane = threadIdx.x % 32, warp = threadIdx.x / 32, team = lane / LANES, part = lane % LANES;
	float4 sum = zero4();
	for (int i = piece * OUTPUTS + warp * TEAMS + team; i < end; i += 8 * TEAMS) {
		float g = p->relation_gradients[(long long)b * p->layers * outputs + i];
		float4 w = at4(p->parameters + (long long)(i / outputs) * p->layer_size + p->relation_at, (long long)(i % outputs) * LANES + part);
		sum = fma4(w, make_float4(g, g, g, g), sum);
	}
	__syncwarp();
	sum = sum_teams(sum);
	if (lane < LANES) sums[warp][lane] = sum;
	__syncthreads();
	if (threadIdx.x < LANES) {
		for (int w = 1; w < 8; w++) sum = add4(sum, sums[w][threadIdx.x]);
		put4(p->partial, (long long)blockIdx.x * LANES + threadIdx.x, sum);
	}
}

// Adds to the gradients of the queries' embeddings what comes through the sources' states, the boundary, and the relations.
// A block a query.
KERNEL(DIM) query_gradients(const Batch *p) {
	int b = blockIdx.x, j = threadIdx.x, pieces = (p->layers * p->relation_count * DIM + OUTPUTS - 1) / OUTPUTS;
	float sum = p->query_gradients[b * DIM + j] + p->gradient[b * DIM + j]; // the sources are the first rows
	long long count = (long long)p->batch * p->entities, of = (long long)b * p->entities + p->queries[b].source;
	for (int t = 1; t <= p->layers; t++)
		if (p->active[t * count + of]) sum += p->boundary[((long long)b * (p->layers + 1) + t) * DIM + j];
	if (p->dependent_relations)
		for (int piece = 0; piece < pieces; piece++) sum += p->partial[((long long)b * pieces + piece) * DIM + j];
	p->query_gradients[b * DIM + j] = sum;
}

// The gradients of all queries' embeddings. A thread a dimension of a relation.
KERNEL(256) query_parameters(const Batch *p) {
	int i = blockIdx.x * 256 + threadIdx.x;
	if (i >= p->relation_count * DIM) return;
	float sum = 0;
	for (int b = 0; b < p->batch; b++)
		if (p->queries[b].relation == i / DIM) sum += p->query_gradients[b * DIM + i % DIM];
	float *to = p->gradients + p->query_at + i;
	*to = p->accumulate ? *to + sum : sum;
}
