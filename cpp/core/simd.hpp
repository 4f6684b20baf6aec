// Vector primitives, compiled once per instruction set and chosen when the library is loaded, so that a
// wheel built for any x86-64 machine still uses the wide units of the one it runs on.
#pragma once
#include <cstddef>
#include <cstdint>

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

// The same for what is read soon; it may lie beyond an array.
inline void prefetch_read(const void* line) {
#if defined(__GNUC__)
    __builtin_prefetch(line, 0);
#else
    (void)line;
#endif
}

// The largest magnitude; NaN if there is one.
double largest_magnitude(const double* x, Index n);
float largest_magnitude(const float* x, Index n);

// Whether each number is larger than the one before.
bool ascending(const std::int32_t* x, Index n);
bool ascending(const std::int64_t* x, Index n);

// sum a[i] b[i]
double dot(const double* a, const double* b, Index n);

// to = x
void widen(const float* x, double* to, Index n);

// to = (x - center) * inverse; either of the two may be null, and `to` be x
void map_row(const double* x, const double* center, const double* inverse, double* to, Index n);

// Steps u = x n / square in the units of features whose values have these weights n and sums of squares; u
// replaces n and u^2 square the latter. Sum, number and largest of the norms u x; squares below `least`
// vanish.
void unit_steps(const double* x, double* n, double* square, Index length, double least, double& norm,
                double& count, double& largest);

// y += a x
void axpy(double a, const double* x, double* y, Index n);
void axpy(double a, const float* x, double* y, Index n);

// x'x and the number of non-zeros of x
void square_norm(const double* x, Index n, double& square, double& count);
void square_norm(const float* x, Index n, double& square, double& count);

// x'w, x'x and the number of non-zeros of x, in one walk
void dot_norm(const double* x, const double* w, Index n, double& dot, double& square, double& count);
void dot_norm(const float* x, const double* w, Index n, double& dot, double& square, double& count);

// y += a0 x0 + a1 x1 + a2 x2 + a3 x3: a quarter of axpy's traffic on y
void axpy4(const double* a, const double* x0, const double* x1, const double* x2, const double* x3, double* y,
           Index n);

// out[i] = sum x_i[j] b[j]: b is read once, and the four sums hide each other's latency
void dot4(const double* x0, const double* x1, const double* x2, const double* x3, const double* b,
          double* out, Index n);

}  // namespace streamsieve
