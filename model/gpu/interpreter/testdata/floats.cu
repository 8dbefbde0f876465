// dims: none
// What the compiler makes of floating point C: out[i] holds RESULTS words of thread i.
#define RESULTS 16

extern "C" __global__ void __launch_bounds__(128) floats(int n, const float *x, const float *y, float *out) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n) return;
	float a = x[i], b = y[i];
	float *o = out + i * RESULTS;
	o[0] = a + b;
	o[1] = a * b - a;
	o[2] = fmaf(a, b, -a);
	o[3] = a / b;
	o[4] = sqrtf(fabsf(a)) + copysignf(b, a);
	o[5] = fminf(a, b);
	o[6] = fmaxf(a, b);
	o[7] = rintf(a) - truncf(b);
	o[8] = floorf(a) + ceilf(b);
	o[9] = (float)(int)a + (float)(unsigned)b;
	o[10] = (float)((double)a * (double)b + 1.0 / (double)b);
	o[11] = isnan(a) ? 1.0f : isinf(b) ? 2.0f : isfinite(a * b) ? 3.0f : 4.0f;
	o[12] = (float)(long long)a + (float)(unsigned long long)fabsf(b);
	o[13] = a <= b || !(a >= b) ? -a : 1 / b;
	o[14] = __saturatef(a) + rintf(b * 4);
	o[15] = (float)sqrt((double)fabsf(b)) + (float)__float2int_rn(a);
}
