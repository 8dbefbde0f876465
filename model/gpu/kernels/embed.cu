// Parameters in the layout of the kernels, and what depends on the queries' embeddings alone.
#include "model.cuh"

// Relation embeddings that depend on the query: a row of the map times the query's embedding. A thread an output.
SHARING(128, 1) embed(const Batch *p) {
	int outputs = p->relation_count * DIM;
	for (int i = blockIdx.x * 128 + threadIdx.x; i < p->layers * outputs; i += gridDim.x * 128) {
		int t = i / outputs, o = i % outputs;
		const float *layer = p->parameters + (long long)t * p->layer_size;
		float4 w[LANES];
#pragma unroll
		for (int j = 0; j < LANES; j++) w[j] = at4(layer + p->relation_at, (long long)o * LANES + j);
		float bias = layer[p->relation_bias_at + o];
#pragma unroll 1
		for (int b = 0; b < p->batch; b++) {
			const float *q = query_embedding(p, b);
			float4 sum = zero4();
#pragma unroll
			for (int j = 0; j < LANES; j++) sum = fma4(w[j], at4(q, j), sum);
			p->dependent[((long long)b * p->layers + t) * outputs + o] = bias + ((sum.x + sum.y) + (sum.z + sum.w));
		}
	}
}

// The linear maps, by feature and transposed.
KERNEL(256) arrange(const Batch *p) {
	int width = p->width, columns = p->columns, size = width * columns;
	for (int i = blockIdx.x * 256 + threadIdx.x; i < p->layers * size; i += gridDim.x * 256) {
		int t = i / size, f = i % size / columns, s = i % columns / DIM, o = i % DIM;
		int at = stored(p->reduction, f, s);
		float w = at < 0 ? 0.0f : p->parameters[(long long)t * p->layer_size + p->linear_at + o * stored_width(p) + at];
		p->maps[i] = w;
		p->transposed[(long long)t * size + (s * DIM + o) * width + f] = w;
	}
}

// The first layers of the MLPs for the query's embedding: b + W x_q. A block a query and MLP, a thread an output.
KERNEL(HIDDEN) mlp_shift(const Batch *p) {
	int b = blockIdx.x % p->batch, at = blockIdx.x < p->batch ? p->mlp_at : p->attention_at, h = threadIdx.x;
	const float *w = p->parameters + at + h * HIDDEN + DIM, *q = query_embedding(p, b);
	float sum = 0;
	for (int j = 0; j < DIM; j++) sum = fmaf(w[j], q[j], sum);
	p->shift[blockIdx.x * HIDDEN + h] = p->parameters[at + HIDDEN * HIDDEN + h] + sum;
}
