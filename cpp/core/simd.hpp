// Vector primitives, compiled once per instruction set and chosen when the library is loaded, so that a
// wheel built for any x86-64 machine still uses the wide units of the one it runs on.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

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

#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define STREAMSIEVE_FOUR
// Four doubles, in one register where the processor has such.
typedef double Four __attribute__((vector_size(32)));
inline void load_four(Four& to, const void* from) {
    std::memcpy(&to, from, sizeof(Four));
}
inline void store_four(const Four& from, void* to) {
    std::memcpy(to, &from, sizeof(Four));
}
inline void transpose(Four& a, Four& b, Four& c, Four& d) {
    const Four even_ab = __builtin_shufflevector(a, b, 0, 4, 2, 6),
               odd_ab = __builtin_shufflevector(a, b, 1, 5, 3, 7);
    const Four even_cd = __builtin_shufflevector(c, d, 0, 4, 2, 6),
               odd_cd = __builtin_shufflevector(c, d, 1, 5, 3, 7);
    a = __builtin_shufflevector(even_ab, even_cd, 0, 1, 4, 5);
    b = __builtin_shufflevector(odd_ab, odd_cd, 0, 1, 4, 5);
    c = __builtin_shufflevector(even_ab, even_cd, 2, 3, 6, 7);
    d = __builtin_shufflevector(odd_ab, odd_cd, 2, 3, 6, 7);
}
#endif
#endif

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

// y += a x
void axpy(double a, const double* x, double* y, Index n);

// x'x and the number of non-zeros of x
void square_norm(const double* x, Index n, double& square, double& count);
void square_norm(const float* x, Index n, double& square, double& count);

// The same with x mapped as by map_row, which no copy is made of.
void axpy(double a, const double* x, const double* center, const double* inverse, double* y, Index n);

// x'w, x'x and the number of non-zeros of x, in one walk; of mapped doubles
void dot_norm(const double* x, const double* center, const double* inverse, const double* w, Index n,
              double& dot, double& square, double& count);
void dot_norm(const float* x, const double* w, Index n, double& dot, double& square, double& count);

// y += a0 x0 + a1 x1 + a2 x2 + a3 x3: a quarter of axpy's traffic on y
void axpy4(const double* a, const double* x0, const double* x1, const double* x2, const double* x3, double* y,
           Index n);

// out[i] = sum x_i[j] b[j]: b is read once, and the four sums hide each other's latency
void dot4(const double* x0, const double* x1, const double* x2, const double* x3, const double* b,
          double* out, Index n);

}  // namespace streamsieve
