// Gradients of the linear maps: of their inputs, and of their weights as sums over rows.
#include "model.cuh"

#define ROWS 64  // of a block of feature_gradients
#define TILE 16
#define GROUP 32 // rows that weight_partial reads at a time

// scaled is the gradient of output n of the three maps of a row: that of the sum times the map's scaler.
DEVICE float scaled(float g, Scale scale, int s) { return s == 0 ? g : s == 1 ? g * scale.up : g * scale.down; }

// Gradients of a layer's features: [n, COLUMNS] x [COLUMNS, WIDTH]. A block computes 64 rows by 160 features, a thread 8 rows
// by 5 features.
KERNEL(256) feature_gradients(const Batch *p, int t) {
	__shared__ float4 a[TILE][ROWS / 4 + 1]; // by output: 64 rows
	__shared__ float w[TILE][160];
	int begin = first_row(p, t), end = end_row(p, t), thread = threadIdx.x, column = thread % 32, eight = thread / 32;
	int blocks = WIDTH / 160, tiles = (end - begin + ROWS - 1) / ROWS;
	const float *maps = p->transposed + (long long)(t - 1) * WIDTH * COLUMNS;
	for (int tile = blockIdx.x; tile < tiles * blocks; tile += gridDim.x) {
		int first = begin + tile / blocks * ROWS, features = tile % blocks * 160;
		float c[8][5];
#pragma unroll
		for (int i = 0; i < 8; i++)
#pragma unroll
			for (int j = 0; j < 5; j++) c[i][j] = 0;
		for (int k = 0; k < COLUMNS; k += TILE) {
			int r = thread / 4, n = thread % 4 * 4; // one float4 a thread
			float4 x = zero4();
			if (first + r < end) {
				Scale scale = p->scales[p->row_degree[first + r]];
				x = scale4(at4(p->linear, (long long)(first + r) * LANES + (k + n) % DIM / 4), scaled(1.0f, scale, k / DIM));
			}
			float *to = (float *)&a[n][0] + r;
			to[0] = x.x;
			to[ROWS + 4] = x.y;
			to[2 * (ROWS + 4)] = x.z;
			to[3 * (ROWS + 4)] = x.w;
			for (int i = thread; i < TILE * 160; i += 256) w[i / 160][i % 160] = maps[(long long)(k + i / 160) * WIDTH + features + i % 160];
			__syncthreads();
#pragma unroll
			for (int f = 0; f < TILE; f++) {
				float4 low = a[f][2 * eight], high = a[f][2 * eight + 1];
				float x[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
				for (int j = 0; j < 5; j++) {
					float y = w[f][column + 32 * j];
#pragma unroll
					for (int i = 0; i < 8; i++) c[i][j] = fmaf(x[i], y, c[i][j]);
				}
			}
			__syncthreads();
		}
#pragma unroll
		for (int i = 0; i < 8; i++) {
			int row = first + 8 * eight + i;
			if (row >= end) continue;
#pragma unroll
			for (int j = 0; j < 5; j++) p->feature_gradients[(long long)(row - begin) * WIDTH + features + column + 32 * j] = c[i][j];
		}
	}
}

// Partial sums of a layer's weight gradients: features of rows times the scaled gradients of their outputs, 160 features by 96
// outputs a block, a thread 10 by 6. p->parts blocks share the rows of each such tile, by groups of 32.
KERNEL(256) weight_partial(const Batch *p, int t) {
	__shared__ float x[GROUP][160], g[GROUP][96];
	int begin = first_row(p, t), end = end_row(p, t), thread = threadIdx.x, tiles = WIDTH / 160 * (COLUMNS / 96);
	int part = blockIdx.x / tiles, features = blockIdx.x % tiles / (COLUMNS / 96) * 160, outputs = blockIdx.x % (COLUMNS / 96) * 96;
	int at = thread % 16, to = thread / 16;
	float c[10][6];
#pragma unroll
	for (int i = 0; i < 10; i++)
#pragma unroll
		for (int j = 0; j < 6; j++) c[i][j] = 0;
	for (int first = begin + part * GROUP; first < end; first += p->parts * GROUP) {
		for (int i = thread; i < GROUP * 40; i += 256) {
			int r = first + i / 40;
			put4(&x[i / 40][0], i % 40, r < end ? at4(p->features + (long long)r * WIDTH + features, i % 40) : zero4());
		}
		for (int i = thread; i < GROUP * 24; i += 256) {
			int r = first + i / 24, n = outputs + i % 24 * 4;
			float4 y = zero4();
			if (r < end) y = scale4(at4(p->linear, (long long)r * LANES + n % DIM / 4), scaled(1.0f, p->scales[p->row_degree[r]], n / DIM));
			put4(&g[i / 24][0], i % 24, y);
		}
		__syncthreads();
#pragma unroll 8
		for (int r = 0; r < GROUP; r++) {
			float y[6];
#pragma unroll
			for (int j = 0; j < 6; j++) y[j] = g[r][to + 16 * j];
#pragma unroll
			for (int i = 0; i < 10; i++) {
				float v = x[r][at + 16 * i];
#pragma unroll
				for (int j = 0; j < 6; j++) c[i][j] = fmaf(v, y[j], c[i][j]);
			}
		}
		__syncthreads();
	}
	float *out = p->partial + (long long)part * WIDTH * COLUMNS;
#pragma unroll
	for (int i = 0; i < 10; i++)
#pragma unroll
		for (int j = 0; j < 6; j++) out[(features + at + 16 * i) * COLUMNS + outputs + to + 16 * j] = c[i][j];
}

// The weights' gradients: the partial sums, in the stored order.
KERNEL(256) weight_sum(const Batch *p, int t) {
	int columns = p->reduction == PNA ? 13 * DIM : 2 * DIM, i = blockIdx.x * 256 + threadIdx.x;
	if (i >= WIDTH * COLUMNS) return;
	int f = i / COLUMNS, s = i % COLUMNS / DIM, o = i % DIM, at = stored(p->reduction, f, s);
	if (at < 0) return;
	float sum = 0;
	for (int part = 0; part < p->parts; part++) sum += p->partial[(long long)part * WIDTH * COLUMNS + i];
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

// Gradients of the maps that yield relation embeddings: an outer product a query. A thread an output.
KERNEL(128) relation_map(const Batch *p) {
	int outputs = p->relation_count * DIM;
	for (int i = blockIdx.x * 128 + threadIdx.x; i < p->layers * outputs; i += gridDim.x * 128) {
		int t = i / outputs, o = i % outputs;
		float4 w[LANES];
		float bias = 0;
#pragma unroll
		for (int j = 0; j < LANES; j++) w[j] = zero4();
		for (int b = 0; b < p->batch; b++) {
			float g = p->relation_gradients[((long long)b * p->layers + t) * outputs + o];
			const float *q = query_embedding(p, b);
			bias += g;
#pragma unroll
			for (int j = 0; j < LANES; j++) w[j] = fma4(at4(q, j), make_float4(g, g, g, g), w[j]);
		}
		float *layer = p->gradients + (long long)t * p->layer_size, *to = layer + p->relation_at + (long long)o * DIM;
		if (p->accumulate) bias += layer[p->relation_bias_at + o];
		layer[p->relation_bias_at + o] = bias;
#pragma unroll
		for (int j = 0; j < LANES; j++) put4(to, j, p->accumulate ? add4(at4(to, j), w[j]) : w[j]);
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
