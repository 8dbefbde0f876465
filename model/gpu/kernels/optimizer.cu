// dims: none
// PyTorch's Adam and AdamW.
#include "model.cuh"

// Whether a gradient is NaN or infinite.
KERNEL(256) check_finite(const Batch *p, int n) {
	bool bad = false;
	for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) bad |= !(fabsf(p->gradients[i]) <= 3.402823466e38f);
	if (__ballot_sync(ALL, bad) && threadIdx.x % 32 == 0) atomicOr(p->bad, 1);
}

// A step, operation by operation as the CPU makes it; AdamW keeps a share of each weight before it. None is made where a gradient is not finite.
KERNEL(256) adam(const Batch *p, int n, float *parameters, float *first, float *second, float decay, float one_minus_beta1, float beta2,
                 float one_minus_beta2, float step, float correction, float epsilon, float keep) {
	if (*p->bad) return;
	for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) {
		float w = parameters[i] * keep, g = p->gradients[i] + decay * w, m = first[i] + one_minus_beta1 * (g - first[i]);
		float v = beta2 * second[i] + one_minus_beta2 * (g * g);
		parameters[i] = w - step * (m / (sqrtf(v) / correction + epsilon));
		first[i] = m;
		second[i] = v;
	}
}
