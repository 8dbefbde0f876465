// The node update: [n, WIDTH] x [WIDTH, COLUMNS], the scalers, layer norm, ReLU, dropout and the residual.
#include "model.cuh"

#define ROWS 64 // of a block; a thread computes 4 rows by 4 outputs under three scalers
#define TILE 16 // features at a time
#define THREADS (16 * LANES)

KERNEL(THREADS) update(const Batch *p, int t) {
	__shared__ float4 a[TILE][ROWS / 4 + 1]; // by feature: 64 rows
	__shared__ float4 w[TILE][COLUMNS / 4];
	int begin = first_row(p, t), end = end_row(p, t), thread = threadIdx.x, part = thread % LANES, four = thread / LANES;
	const float *maps = p->maps + (long long)(t - 1) * WIDTH * COLUMNS;
	const float *layer = p->parameters + (long long)(t - 1) * p->layer_size;
	for (int first = begin + blockIdx.x * ROWS; first < end; first += gridDim.x * ROWS) {
		float c[3][4][4];
#pragma unroll
		for (int s = 0; s < 3; s++)
#pragma unroll
			for (int i = 0; i < 4; i++)
#pragma unroll
				for (int j = 0; j < 4; j++) c[s][i][j] = 0;
		for (int k = 0; k < WIDTH; k += TILE) {
			for (int i = thread; i < ROWS * TILE / 4; i += THREADS) {
				int r = i / (TILE / 4), f = i % (TILE / 4);
				float4 x = first + r < end ? at4(p->features + feature_row(p, t, first + r) * WIDTH, k / 4 + f) : zero4();
				float *to = (float *)&a[4 * f][0] + r;
				to[0] = x.x;
				to[4 * (ROWS / 4 + 1)] = x.y;
				to[8 * (ROWS / 4 + 1)] = x.z;
				to[12 * (ROWS / 4 + 1)] = x.w;
			}
			for (int i = thread; i < TILE * COLUMNS / 4; i += THREADS) w[i / (COLUMNS / 4)][i % (COLUMNS / 4)] = at4(maps, k * COLUMNS / 4 + i);
			__syncthreads();
#pragma unroll
			for (int f = 0; f < TILE; f++) {
				float4 xs = a[f][four];
				float x[4] = {xs.x, xs.y, xs.z, xs.w};
#pragma unroll
				for (int s = 0; s < 3; s++) {
					float4 ys = w[f][s * LANES + part];
					float y[4] = {ys.x, ys.y, ys.z, ys.w};
#pragma unroll
					for (int i = 0; i < 4; i++)
#pragma unroll
						for (int j = 0; j < 4; j++) c[s][i][j] = fmaf(x[i], y[j], c[s][i][j]);
				}
			}
			__syncthreads();
		}
#pragma unroll
		for (int i = 0; i < 4; i++) {
			int row = first + 4 * four + i;
			bool there = row < end; // the lanes of a row agree, but those of a warp need not
			Scale scale = p->scales[there ? p->row_degree[row] : 0];
			float y[4], mean = 0, variance = 0;
#pragma unroll
			for (int j = 0; j < 4; j++) {
				y[j] = fmaf(c[2][i][j], scale.down, fmaf(c[1][i][j], scale.up, c[0][i][j]));
				if (p->bias) y[j] += layer[p->linear_bias_at + 4 * part + j];
			}
			mean = sum_dims((y[0] + y[1]) + (y[2] + y[3])) / p->live;
#pragma unroll
			for (int j = 0; j < 4; j++) y[j] = 4 * part + j < p->live ? y[j] - mean : 0.0f;
			variance = sum_dims(fmaf(y[0], y[0], y[1] * y[1]) + fmaf(y[2], y[2], y[3] * y[3])) / p->live;
			float deviation = 1.0f / sqrtf(variance + 1e-5f);
			if (!there) continue;
			Row r = p->rows[row];
			int age = t - p->distances[(long long)r.query * p->entities + r.entity];
			float4 own = at4(p->features + feature_row(p, t, row) * WIDTH, part);
			float before[4] = {own.x, own.y, own.z, own.w}, after[4];
			unsigned mask = p->training && p->threshold ? p->masks[row * PER + part / 8] >> (part % 8 * 4) : 15;
#pragma unroll
			for (int j = 0; j < 4; j++) {
				y[j] *= deviation;
				float z = y[j];
				if (p->bias) z = fmaf(z, layer[p->scale_at + 4 * part + j], layer[p->shift_at + 4 * part + j]);
				z = fmaxf(z, 0.0f);
				if (p->training) z = mask >> j & 1 ? z * p->keep_scale : 0.0f;
				after[j] = before[j] + z;
			}
			if (p->training) {
				put4(p->normalized, (long long)row * LANES + part, make_float4(y[0], y[1], y[2], y[3]));
				if (part == 0) p->deviations[row] = deviation;
			}
			put4(p->states, ((long long)(age * p->batch + r.query) * p->entities + r.entity) * LANES + part, make_float4(after[0], after[1], after[2], after[3]));
		}
	}
}

// The states of age 0 of the sources are the queries' embeddings. A warp a query.
KERNEL(32) start_states(const Batch *p) {
	int b = blockIdx.x;
	if (threadIdx.x < LANES)
		put4(p->states, ((long long)b * p->entities + p->queries[b].source) * LANES + threadIdx.x, at4(query_embedding(p, b), threadIdx.x));
}
