// Vector primitives, compiled once per instruction set and chosen when the library is loaded, so that a
// wheel built for any x86-64 machine still uses the wide units of the one it runs on.
#pragma once
#include <cstddef>

#if defined(__linux__) && defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    __GNUC__ >= 12 && !defined(__SANITIZE_ADDRESS__)
#define STREAMSIEVE_CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define STREAMSIEVE_CLONES
#endif

namespace streamsieve {

using Index = std::ptrdiff_t;

// Fetch a line that is written soon: the divisions of a row are too slow to let the processor look that far.
inline void prefetch(const void* line) {
#if defined(__GNUC__)
    __builtin_prefetch(line, 1);
#else
    (void)line;
#endif
}

// The same for one that is only read.
inline void prefetch_read(const void* line) {
#if defined(__GNUC__)
    __builtin_prefetch(line, 0);
#else
    (void)line;
#endif
}

// sum a[i] b[i]
STREAMSIEVE_CLONES inline double dot(const double* a, const double* b, Index n) {
    double s = 0;
#pragma omp simd reduction(+ : s)
    for (Index i = 0; i < n; ++i) s += a[i] * b[i];
    return s;
}

// y += a x
STREAMSIEVE_CLONES inline void axpy(double a, const double* x, double* y, Index n) {
#pragma omp simd
    for (Index i = 0; i < n; ++i) y[i] += a * x[i];
}

STREAMSIEVE_CLONES inline void axpy(double a, const float* x, double* y, Index n) {
#pragma omp simd
    for (Index i = 0; i < n; ++i) y[i] += a * double(x[i]);
}

// x'x and the number of non-zeros of x
STREAMSIEVE_CLONES inline void square_norm(const double* x, Index n, double& square, double& count) {
    double s = 0, c = 0;
#pragma omp simd reduction(+ : s, c)
    for (Index i = 0; i < n; ++i) {
        s += x[i] * x[i];
        c += x[i] != 0 ? 1.0 : 0.0;
    }
    square = s, count = c;
}

STREAMSIEVE_CLONES inline void square_norm(const float* x, Index n, double& square, double& count) {
    double s = 0, c = 0;
#pragma omp simd reduction(+ : s, c)
    for (Index i = 0; i < n; ++i) {
        s += double(x[i]) * double(x[i]);
        c += x[i] != 0 ? 1.0 : 0.0;
    }
    square = s, count = c;
}

// x'w, x'x and the number of non-zeros of x, in one walk
STREAMSIEVE_CLONES inline void dot_norm(const double* x, const double* w, Index n, double& dot,
                                        double& square, double& count) {
    double d = 0, s = 0, c = 0;
#pragma omp simd reduction(+ : d, s, c)
    for (Index i = 0; i < n; ++i) {
        d += x[i] * w[i];
        s += x[i] * x[i];
        c += x[i] != 0 ? 1.0 : 0.0;
    }
    dot = d, square = s, count = c;
}

STREAMSIEVE_CLONES inline void dot_norm(const float* x, const double* w, Index n, double& dot, double& square,
                                        double& count) {
    double d = 0, s = 0, c = 0;
#pragma omp simd reduction(+ : d, s, c)
    for (Index i = 0; i < n; ++i) {
        const double v = double(x[i]);
        d += v * w[i];
        s += v * v;
        c += v != 0 ? 1.0 : 0.0;
    }
    dot = d, square = s, count = c;
}

// y += a0 x0 + a1 x1 + a2 x2 + a3 x3: a quarter of axpy's traffic on y
STREAMSIEVE_CLONES inline void axpy4(const double* a, const double* x0, const double* x1, const double* x2,
                                     const double* x3, double* y, Index n) {
#pragma omp simd
    for (Index i = 0; i < n; ++i) y[i] += a[0] * x0[i] + a[1] * x1[i] + a[2] * x2[i] + a[3] * x3[i];
}

// out[i] = sum x_i[j] b[j]: b is read once, and the four sums hide each other's latency
STREAMSIEVE_CLONES inline void dot4(const double* x0, const double* x1, const double* x2, const double* x3,
                                    const double* b, double* out, Index n) {
    double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
#pragma omp simd reduction(+ : s0, s1, s2, s3)
    for (Index j = 0; j < n; ++j) {
        s0 += x0[j] * b[j];
        s1 += x1[j] * b[j];
        s2 += x2[j] * b[j];
        s3 += x3[j] * b[j];
    }
    out[0] = s0;
    out[1] = s1;
    out[2] = s2;
    out[3] = s3;
}

}  // namespace streamsieve
