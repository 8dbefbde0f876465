// Final states, the MLPs of scores and of attention, the loss, and their gradients.
#include "model.cuh"

#define UNITS (HIDDEN / 32) // hidden units of a lane
#define MLP_SIZE (HIDDEN * DIM + 2 * HIDDEN + 1) // partial gradients: state weights, sums of hidden gradients, output weights, output bias

// A block has the first layer's weights for the state in shared memory, where they fit. Otherwise they are read through the first-level
// cache, in the order of dimensions while lanes hold hidden units, and in that of the parameters while they hold dimensions.
#define SHARED (DIM <= 64)
#define WEIGHTS (SHARED ? DIM * (HIDDEN + 1) : 1)

// unit_weights returns the weights as [DIM, HIDDEN] with UNIT_STRIDE between dimensions.
#define UNIT_STRIDE (SHARED ? HIDDEN + 1 : HIDDEN)
DEVICE const float *unit_weights(const Batch *p, bool attention, float *space) {
	if (!SHARED) return p->mlp_maps + attention * DIM * HIDDEN;
	int at = attention ? p->attention_at : p->mlp_at;
	for (int i = threadIdx.x; i < HIDDEN * DIM; i += blockDim.x) space[i % DIM * (HIDDEN + 1) + i / DIM] = p->parameters[at + i / DIM * HIDDEN + i % DIM];
	__syncthreads();
	return space;
}

// dimension_weights returns the weights for dimension_weight.
DEVICE const float *dimension_weights(const Batch *p, bool attention, float *space) {
	return SHARED ? unit_weights(p, attention, space) : p->parameters + (attention ? p->attention_at : p->mlp_at);
}
DEVICE float dimension_weight(const float *w, int dimension, int unit) {
	return SHARED ? w[dimension * UNIT_STRIDE + unit] : w[unit * HIDDEN + dimension];
}

// The weights in the order of dimensions, after each change of the parameters, where they do not fit shared memory.
KERNEL(256) mlp_arrange(const Batch *p) {
	int i = blockIdx.x * 256 + threadIdx.x, mlp = i / (DIM * HIDDEN), j = i / HIDDEN % DIM, h = i % HIDDEN;
	if (i < (p->specific ? 2 : 1) * DIM * HIDDEN) p->mlp_maps[i] = p->parameters[(mlp ? p->attention_at : p->mlp_at) + h * HIDDEN + j];
}

// evaluate is the MLP of a state that a warp holds; h receives the hidden units lane, lane + 32, ...
DEVICE float evaluate(const Batch *p, int at, const float *w, const float *shift, const float *x, float *h) {
	int lane = threadIdx.x % 32;
#pragma unroll
	for (int k = 0; k < UNITS; k++) h[k] = shift[lane + 32 * k];
#pragma unroll
	for (int i = 0; i < PER; i++)
		for (int j = 0; j < 32; j++) {
			float v = __shfl_sync(ALL, x[i], j);
#pragma unroll
			for (int k = 0; k < UNITS; k++) h[k] = fmaf(v, w[(32 * i + j) * UNIT_STRIDE + lane + 32 * k], h[k]);
		}
	float sum = 0;
#pragma unroll
	for (int k = 0; k < UNITS; k++) {
		h[k] = relu(h[k]);
		sum = fmaf(h[k], p->parameters[at + HIDDEN * HIDDEN + HIDDEN + lane + 32 * k], sum);
	}
	return sum_warp(sum) + p->parameters[at + HIDDEN * HIDDEN + 2 * HIDDEN];
}

// keep stores what the backward pass reads of an MLP row.
DEVICE void keep_row(const Batch *p, long long row, const float *x, const float *h) {
	int lane = threadIdx.x % 32;
#pragma unroll
	for (int i = 0; i < PER; i++) p->final[row * DIM + lane + 32 * i] = x[i];
#pragma unroll
	for (int k = 0; k < UNITS; k++) p->hidden[row * HIDDEN + lane + 32 * k] = h[k];
}

DEVICE void load_state(const Batch *p, int b, int v, int age, float *x) {
#pragma unroll
	for (int i = 0; i < PER; i++) x[i] = p->states[((long long)(age * p->batch + b) * p->entities + v) * DIM + threadIdx.x % 32 + 32 * i];
}

// Scores of the candidates, or while scoring of all entities. A warp an entity of a query.
KERNEL(256) score(const Batch *p) {
	__shared__ float space[WEIGHTS];
	const float *w = unit_weights(p, false, space);
	int lane = threadIdx.x % 32;
	long long count = (long long)p->batch * p->candidate_stride;
	for (long long i = (long long)blockIdx.x * 8 + threadIdx.x / 32; i < count; i += gridDim.x * 8) {
		int b = i / p->candidate_stride, c = i % p->candidate_stride;
		if (p->training && c >= p->queries[b].candidates) continue;
		int v = p->training ? p->candidate_entities[i] : c, distance = p->distances[(long long)b * p->entities + v];
		float x[PER], h[UNITS];
		if (p->specific) {
#pragma unroll
			for (int j = 0; j < PER; j++) x[j] = p->final[i * DIM + lane + 32 * j]; // from attend
		} else if (distance == UNREACHED) {
#pragma unroll
			for (int j = 0; j < PER; j++) x[j] = 0;
		} else {
			load_state(p, b, v, last_age(p, distance), x);
		}
		float s = evaluate(p, p->mlp_at, w, p->shift + b * HIDDEN, x, h);
		if (lane == 0) p->scores[i] = s;
		if (p->training) keep_row(p, i, x, h);
	}
}

// Final states where delta is specific: an attention over the entity's states.
KERNEL(256) attend(const Batch *p) {
	__shared__ float space[WEIGHTS];
	const float *w = unit_weights(p, true, space);
	int lane = threadIdx.x % 32;
	long long count = (long long)p->batch * p->candidate_stride;
	const float *shifts = p->shift + (p->attention_at == p->mlp_at ? 0 : p->batch * HIDDEN);
	for (long long i = (long long)blockIdx.x * 8 + threadIdx.x / 32; i < count; i += gridDim.x * 8) {
		int b = i / p->candidate_stride, c = i % p->candidate_stride;
		if (p->training && c >= p->queries[b].candidates) continue;
		int v = p->training ? p->candidate_entities[i] : c, distance = p->distances[(long long)b * p->entities + v];
		int last = distance == UNREACHED ? -1 : last_age(p, distance);
		float x[PER], h[UNITS], final[PER], logit = 0;
		for (int age = 0; age <= last; age++) {
			load_state(p, b, v, age, x);
			float s = evaluate(p, p->attention_at, w, shifts + b * HIDDEN, x, h) / p->attention_temperature;
			if (lane == age) logit = s;
			if (p->training) keep_row(p, count + i * p->ages + age, x, h);
		}
		float highest = max_warp(lane <= last ? logit : -3e38f);
		float weight = lane <= last ? exponential(logit - highest) : 0.0f, total = sum_warp(weight);
		if (last >= 0) weight /= total;
#pragma unroll
		for (int j = 0; j < PER; j++) final[j] = 0;
		for (int age = 0; age <= last; age++) {
			float a = __shfl_sync(ALL, weight, age);
			load_state(p, b, v, age, x);
#pragma unroll
			for (int j = 0; j < PER; j++) final[j] = fmaf(a, x[j], final[j]);
		}
#pragma unroll
		for (int j = 0; j < PER; j++) p->final[i * DIM + lane + 32 * j] = final[j];
		if (p->training && lane < p->ages) p->attention[i * p->ages + lane] = weight;
	}
}

DEVICE float reduce(float x, float *space, bool largest) {
	int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	x = largest ? max_warp(x) : sum_warp(x);
	__syncthreads();
	if (lane == 0) space[warp] = x;
	__syncthreads();
	x = space[0];
	for (int i = 1; i < 8; i++) x = largest ? fmaxf(x, space[i]) : x + space[i];
	return x;
}

// The binary loss of a query with one positive and negatives, each as often as it was drawn, and the scores' gradients. A block a
// query.
KERNEL(256) binary_loss(const Batch *p) {
	__shared__ float space[8];
	int b = blockIdx.x, n = p->queries[b].candidates;
	long long of = (long long)b * p->candidate_stride;
	const float *scores = p->scores + of;
	const int *drawn = p->multiplicity + of;
	float highest = -3e38f, total = 0, sum = 0, temperature = p->temperature;
	for (int c = threadIdx.x; c < n; c += 256)
		if (drawn[c]) highest = fmaxf(highest, scores[c]);
	highest = reduce(highest, space, true);
	for (int c = threadIdx.x; c < n; c += 256) {
		if (!drawn[c]) continue;
		float w = temperature > 0 ? exponential((scores[c] - highest) / temperature) : 1.0f;
		total = fmaf(w, drawn[c], total);
	}
	total = reduce(total, space, false);
	float half = p->share / 2;
	for (int c = threadIdx.x; c < n; c += 256) {
		float s = scores[c], gradient = 0;
		if (drawn[c]) {
			float w = (temperature > 0 ? exponential((s - highest) / temperature) : 1.0f) * drawn[c] / total * half;
			sum = fmaf(w, softplus(s), sum);
			gradient = w * sigmoid(s);
		}
		if (c == 0) {
			sum = fmaf(half, softplus(-s), sum);
			gradient -= half * sigmoid(-s);
		}
		p->score_gradients[of + c] = gradient;
	}
	sum = reduce(sum, space, false);
	if (threadIdx.x) return;
	p->losses[b] = sum;
	if (!(fabsf(sum) <= 3.402823466e38f)) atomicOr(p->bad, 1);
}

// The softmax loss of a query, and the scores' gradients: softplus(x), where x is the logarithm of the sum of the negatives' exponentials, each as
// often as it was drawn, minus the answer's score. The other probabilities add up to sigmoid(x), which is exact where the answer's is close to 1.
// A block a query.
KERNEL(256) softmax_loss(const Batch *p) {
	__shared__ float space[8];
	int b = blockIdx.x, n = p->queries[b].candidates;
	long long of = (long long)b * p->candidate_stride;
	const float *scores = p->scores + of;
	const int *drawn = p->multiplicity + of;
	float highest = -3e38f, total = 0; // the highest may be the answer's: an infinite one makes a NaN
	for (int c = threadIdx.x; c < n; c += 256) highest = fmaxf(highest, scores[c]);
	highest = reduce(highest, space, true);
	for (int c = threadIdx.x; c < n; c += 256) total = fmaf(exponential(scores[c] - highest), drawn[c], total);
	total = reduce(total, space, false);
	float x = highest - scores[0] + logarithm(total), others = p->share * sigmoid(x);
	for (int c = threadIdx.x; c < n; c += 256)
		p->score_gradients[of + c] = others * (exponential(scores[c] - highest) * drawn[c] / total - (c == 0 ? 1.0f : 0.0f));
	if (threadIdx.x) return;
	float loss = p->share * softplus(x);
	p->losses[b] = loss;
	if (!(fabsf(loss) <= 3.402823466e38f)) atomicOr(p->bad, 1);
}

// differentiate is the backward pass of evaluate: it stores the hidden units' gradients and adds to x's, in lanes.
DEVICE void differentiate(const Batch *p, int at, const float *w, long long row, float gradient, float *x) {
	int lane = threadIdx.x % 32;
	float h[UNITS];
#pragma unroll
	for (int k = 0; k < UNITS; k++) {
		h[k] = p->hidden[row * HIDDEN + lane + 32 * k] > 0 ? gradient * p->parameters[at + HIDDEN * HIDDEN + HIDDEN + lane + 32 * k] : 0.0f;
		p->hidden_gradients[row * HIDDEN + lane + 32 * k] = h[k];
	}
#pragma unroll
	for (int k = 0; k < UNITS; k++)
		for (int j = 0; j < 32; j++) {
			float v = __shfl_sync(ALL, h[k], j);
#pragma unroll
			for (int i = 0; i < PER; i++) x[i] = fmaf(v, dimension_weight(w, lane + 32 * i, 32 * k + j), x[i]);
		}
}

// Gradients of the candidates' final states. A warp a candidate.
KERNEL(256) score_backward(const Batch *p) {
	__shared__ float space[WEIGHTS];
	const float *w = dimension_weights(p, false, space);
	int lane = threadIdx.x % 32;
	long long count = (long long)p->batch * p->candidate_stride;
	for (long long i = (long long)blockIdx.x * 8 + threadIdx.x / 32; i < count; i += gridDim.x * 8) {
		if (i % p->candidate_stride >= p->queries[i / p->candidate_stride].candidates) continue;
		float x[PER];
#pragma unroll
		for (int j = 0; j < PER; j++) x[j] = 0;
		differentiate(p, p->mlp_at, w, i, p->score_gradients[i], x);
#pragma unroll
		for (int j = 0; j < PER; j++) p->final_gradients[i * (p->specific ? p->ages : 1) * DIM + lane + 32 * j] = x[j];
	}
}

// Gradients of the states that an attention summed: in place of that of the final state, one for each age.
KERNEL(256) attend_backward(const Batch *p) {
	__shared__ float space[WEIGHTS];
	const float *w = dimension_weights(p, true, space);
	int lane = threadIdx.x % 32;
	long long count = (long long)p->batch * p->candidate_stride;
	for (long long i = (long long)blockIdx.x * 8 + threadIdx.x / 32; i < count; i += gridDim.x * 8) {
		int b = i / p->candidate_stride;
		if (i % p->candidate_stride >= p->queries[b].candidates) continue;
		int distance = p->distances[(long long)b * p->entities + p->candidate_entities[i]];
		int last = distance == UNREACHED ? -1 : last_age(p, distance);
		float final[PER], x[PER], along = 0;
#pragma unroll
		for (int j = 0; j < PER; j++) final[j] = p->final_gradients[i * p->ages * DIM + lane + 32 * j];
		for (int age = 0; age <= last; age++) {
			float dot = 0;
#pragma unroll
			for (int j = 0; j < PER; j++) dot = fmaf(final[j], p->final[(count + i * p->ages + age) * DIM + lane + 32 * j], dot);
			dot = sum_warp(dot);
			if (lane == age) along = dot;
		}
		float weight = lane <= last ? p->attention[i * p->ages + lane] : 0.0f;
		float mean = sum_warp(weight * along), logit = weight * (along - mean) / p->attention_temperature;
		for (int age = 0; age < p->ages; age++) {
			long long row = count + i * p->ages + age;
			float a = __shfl_sync(ALL, weight, age), gradient = __shfl_sync(ALL, logit, age);
			if (lane == 0) p->score_gradients[row] = age <= last ? gradient : 0.0f;
			if (age > last) {
				float zero[PER];
				float none[UNITS];
#pragma unroll
				for (int j = 0; j < PER; j++) zero[j] = 0;
#pragma unroll
				for (int k = 0; k < UNITS; k++) {
					none[k] = 0;
					p->hidden_gradients[row * HIDDEN + lane + 32 * k] = 0;
				}
				keep_row(p, row, zero, none);
				continue;
			}
#pragma unroll
			for (int j = 0; j < PER; j++) x[j] = a * final[j];
			differentiate(p, p->attention_at, w, row, gradient, x);
#pragma unroll
			for (int j = 0; j < PER; j++) p->final_gradients[(i * p->ages + age) * DIM + lane + 32 * j] = x[j];
		}
	}
}

#define MLP_ROWS (2048 / DIM) // of a block

// Partial sums of an MLP's gradients over MLP_ROWS rows of a query: one a candidate, or for the attention one an age. A block
// a piece of a query.
KERNEL(256) mlp_partial(const Batch *p, int attention) {
	__shared__ float x[MLP_ROWS][DIM], h[MLP_ROWS][HIDDEN + 1], g[MLP_ROWS][HIDDEN + 1], s[MLP_ROWS];
	int ages = attention ? p->ages : 1, pieces = (p->candidate_stride * ages + MLP_ROWS - 1) / MLP_ROWS;
	int b = blockIdx.x / pieces, piece = blockIdx.x % pieces, first = piece * MLP_ROWS;
	int n = min(MLP_ROWS, p->queries[b].candidates * ages - first);
	long long of = (attention ? (long long)p->batch * p->candidate_stride : 0) + (long long)b * p->candidate_stride * ages + first;
	for (int i = threadIdx.x; i < n * DIM; i += 256) x[i / DIM][i % DIM] = p->final[of * DIM + i];
	for (int i = threadIdx.x; i < n * HIDDEN; i += 256) {
		h[i / HIDDEN][i % HIDDEN] = p->hidden[of * HIDDEN + i];
		g[i / HIDDEN][i % HIDDEN] = p->hidden_gradients[of * HIDDEN + i];
	}
	for (int i = threadIdx.x; i < n; i += 256) s[i] = p->score_gradients[of + i];
	__syncthreads();
	float *out = p->partial + (long long)blockIdx.x * MLP_SIZE;
	for (int i = threadIdx.x; i < HIDDEN * DIM; i += 256) {
		float sum = 0;
		for (int r = 0; r < n; r++) sum = fmaf(g[r][i / DIM], x[r][i % DIM], sum);
		out[i] = sum;
	}
	for (int i = threadIdx.x; i < HIDDEN; i += 256) {
		float sum = 0, output = 0;
		for (int r = 0; r < n; r++) {
			sum += g[r][i];
			output = fmaf(s[r], h[r][i], output);
		}
		out[HIDDEN * DIM + i] = sum;
		out[HIDDEN * DIM + HIDDEN + i] = output;
	}
	if (threadIdx.x == 0) {
		float sum = 0;
		for (int r = 0; r < n; r++) sum += s[r];
		out[HIDDEN * DIM + 2 * HIDDEN] = sum;
	}
}

// The sums of a query's pieces, in place of its first. A block a query and 256 values.
KERNEL(256) mlp_query(const Batch *p, int attention) {
	int ages = attention ? p->ages : 1, pieces = (p->candidate_stride * ages + MLP_ROWS - 1) / MLP_ROWS;
	int blocks = (MLP_SIZE + 255) / 256, b = blockIdx.x / blocks, i = blockIdx.x % blocks * 256 + threadIdx.x;
	if (i >= MLP_SIZE) return;
	float *partial = p->partial + (long long)b * pieces * MLP_SIZE + i, sum = 0;
	int used = (p->queries[b].candidates * ages + MLP_ROWS - 1) / MLP_ROWS;
	for (int piece = 0; piece < used; piece++) sum += partial[(long long)piece * MLP_SIZE];
	partial[0] = sum;
}

// The MLP's gradients: sums over the queries. The weights of the queries' embeddings get an outer product a query.
KERNEL(256) mlp_sum(const Batch *p, int attention, int add) {
	int ages = attention ? p->ages : 1, pieces = (p->candidate_stride * ages + MLP_ROWS - 1) / MLP_ROWS;
	int i = blockIdx.x * 256 + threadIdx.x;
	if (i >= HIDDEN * HIDDEN + 2 * HIDDEN + 1) return;
	float sum = 0;
	for (int b = 0; b < p->batch; b++) {
		const float *of = p->partial + (long long)b * pieces * MLP_SIZE;
		if (i >= HIDDEN * HIDDEN) sum += of[HIDDEN * DIM + i - HIDDEN * HIDDEN];
		else if (i % HIDDEN < DIM) sum += of[i / HIDDEN * DIM + i % HIDDEN];
		else sum = fmaf(of[HIDDEN * DIM + i / HIDDEN], query_embedding(p, b)[i % HIDDEN - DIM], sum);
	}
	float *to = p->gradients + (attention ? p->attention_at : p->mlp_at) + i;
	*to = add ? *to + sum : sum;
}

// The queries' embeddings' gradients through an MLP. A block a query.
KERNEL(DIM) mlp_embedding(const Batch *p, int attention) {
	int ages = attention ? p->ages : 1, pieces = (p->candidate_stride * ages + MLP_ROWS - 1) / MLP_ROWS, b = blockIdx.x, j = threadIdx.x;
	const float *sums = p->partial + (long long)b * pieces * MLP_SIZE + HIDDEN * DIM;
	const float *w = p->parameters + (attention ? p->attention_at : p->mlp_at) + DIM + j;
	float sum = attention ? p->query_gradients[b * DIM + j] : 0.0f;
	for (int h = 0; h < HIDDEN; h++) sum = fmaf(sums[h], w[h * HIDDEN], sum);
	p->query_gradients[b * DIM + j] = sum;
}
