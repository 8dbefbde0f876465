// Gradients of the weights of linear maps, as sums over rows, and of the embeddings.
#include "model.cuh"

#define GROUP 16 // rows that weight_partial reads at a time

// Gradients of a layer's folded weights, by span: features of rows times the gradients of their outputs. A block sums for 32 outputs, 32
// features of own states and `each` for each of these of reduced messages; a thread for 4 outputs and 2 and 2 x each features. While a
// block computes on a group of rows it reads the next one.
template <int each>
DEVICE void span_gradients(const Batch *p, int t, int span, int tile, float4 (&x)[2][GROUP][40], float4 (&g)[2][GROUP][8]) {
	constexpr int reads = 1 + each, sums = 2 * each; // fours of features that a thread reads, and features of reduced messages that it sums for
	int begin = first_row(p, t), thread = threadIdx.x, features = tile / PER, outputs = tile % PER;
	int at = thread / 8, to = thread % 8, row = thread / 8;
	Span all = p->spans[(t - 1) * p->span_stride + span];
	const int *rows = strip_rows(p, t, all.strip);
	int count = rows[0] == 0 ? 0 : all.rows;
	float c[sums][4], own[2][4];
#pragma unroll
	for (int j = 0; j < 4; j++) {
		own[0][j] = own[1][j] = 0;
#pragma unroll
		for (int i = 0; i < sums; i++) c[i][j] = 0;
	}
	float4 xs[reads], y;
	auto row_at = [&](int i) { return begin + rows[min(i, count - 1)] - 1; };
	// read reads a thread's share of a group: features of a row, and 4 gradients. Rows behind the last one count as 0.
	auto read = [&](int i, int number) {
		const float *from = p->features + (long long)number * p->width;
		xs[0] = at4(from, 8 * features + to);
#pragma unroll
		for (int k = 0; k < each; k++) xs[1 + k] = at4(from, LANES + 8 * each * features + 8 * k + to);
		y = i < count ? at4(p->linear, (long long)number * LANES + 8 * outputs + to) : zero4();
	};
	auto keep = [&](int b) {
#pragma unroll
		for (int k = 0; k < reads; k++) x[b][row][8 * k + to] = xs[k];
		g[b][row][to] = y;
	};
	int next = 0;
	if (count > 0) {
		read(row, row_at(row));
		next = row_at(GROUP + row);
		keep(0);
		__syncthreads();
	}
#pragma unroll 1
	for (int first = 0, b = 0; first < count; first += GROUP, b = 1 - b) {
		bool more = first + GROUP < count;
		if (more) {
			read(first + GROUP + row, next);
			next = row_at(first + 2 * GROUP + row);
		}
		const float4 *along = &g[b][0][to];
		const float2 *two = (const float2 *)&x[b][0][0] + at;
#pragma unroll 2
		for (int r = 0; r < GROUP; r++, two += 80, along += 8) {
			float4 ys = along[0];
			float2 mine = two[0];
			float v[sums], u[4] = {ys.x, ys.y, ys.z, ys.w};
			if (each == 1) {
				*(float2 *)v = two[16];
			} else {
#pragma unroll
				for (int k = 0; k < sums; k += 4) *(float4 *)(v + k) = ((const float4 *)(&x[b][r][8]))[at + 16 * (k / 4)];
			}
#pragma unroll
			for (int j = 0; j < 4; j++) {
#pragma unroll
				for (int i = 0; i < sums; i++) c[i][j] = fmaf(v[i], u[j], c[i][j]);
				own[0][j] = fmaf(mine.x, u[j], own[0][j]);
				own[1][j] = fmaf(mine.y, u[j], own[1][j]);
			}
		}
		if (!more) break;
		keep(1 - b);
		__syncthreads();
	}
	float *out = p->partial + (long long)span * p->width * DIM;
#pragma unroll
	for (int i = 0; i < 2; i++)
		put4(out, (32 * features + 2 * at + i) * LANES + 8 * outputs + to, make_float4(own[i][0], own[i][1], own[i][2], own[i][3]));
#pragma unroll
	for (int i = 0; i < sums; i++)
		put4(out, (DIM + 32 * each * features + (each == 1 ? 2 * at + i : 64 * (i / 4) + 4 * at + i % 4)) * LANES + 8 * outputs + to,
		     make_float4(c[i][0], c[i][1], c[i][2], c[i][3]));
	if (thread == 0 && tile == 0) p->span_scales[span] = count > 0 ? p->scales[p->row_degree[begin + rows[0] - 1]] : Scale{};
}

SHARING(128, 4) weight_partial(const Batch *p, int t) {
	__shared__ float4 x[2][GROUP][40], g[2][GROUP][8]; // by row: features, of own states first; gradients
	int span = blockIdx.x / (PER * PER), tile = blockIdx.x % (PER * PER);
	if (span >= p->span_counts[t - 1]) return;
	if (p->reduction == PNA) span_gradients<4>(p, t, span, tile, x, g);
	else span_gradients<1>(p, t, span, tile, x, g);
}

// The weights' gradients: the sums over the spans, times their scalers, in the stored order. A block sums for 32 features and outputs, each
// of its warps every eighth span.
KERNEL(256) weight_sum(const Batch *p, int t) {
	__shared__ float sums[3][8][32];
	int lane = threadIdx.x % 32, warp = threadIdx.x / 32, i = blockIdx.x * 32 + lane, f = i / DIM, o = i % DIM;
	int size = p->width * DIM, spans = p->span_counts[t - 1];
	const float *partial = p->partial + i;
	float one = 0, up = 0, down = 0;
#pragma unroll 8
	for (int span = warp; span < spans; span += 8) {
		float x = partial[(long long)span * size];
		Scale scale = p->span_scales[span];
		one += x;
		up = fmaf(x, scale.up, up);
		down = fmaf(x, scale.down, down);
	}
	sums[0][warp][lane] = one;
	sums[1][warp][lane] = up;
	sums[2][warp][lane] = down;
	__syncthreads();
	int at = warp < 3 ? stored(p->reduction, f, warp) : -1; // a warp a scaler
	if (at < 0) return;
	float sum = sums[warp][0][lane];
	for (int w = 1; w < 8; w++) sum += sums[warp][w][lane];
	float *to = p->gradients + (long long)(t - 1) * p->layer_size + p->linear_at + o * stored_width(p) + at;
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

// Adds to the gradients of the queries' embeddings what comes through the sources' states, the boundary, and the
// pieces of relation_query. A block a query.
KERNEL(DIM) query_gradients(const Batch *p, int pieces) {
	int b = blockIdx.x, j = threadIdx.x;
	float sum = p->query_gradients[b * DIM + j] + p->gradient[b * DIM + j]; // the sources are the first rows
	long long count = (long long)p->batch * p->entities, of = (long long)b * p->entities + p->queries[b].source;
	for (int t = 1; t <= p->layers; t++)
		if (p->active[t * count + of]) sum += p->boundary[((long long)b * (p->layers + 1) + t) * DIM + j];
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
