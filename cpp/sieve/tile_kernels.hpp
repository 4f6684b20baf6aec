// Products of the columns of a tile: R rows, column by column, in float or 8-bit cells.
#pragma once
#include <algorithm>
#include <cstdint>
#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#endif

#include "core/simd.hpp"

namespace streamsieve::sieve {

constexpr Index kMostRows = 128;  // of a tile
constexpr Index kStep = 8;        // the columns of a kernel's call are padded to a multiple of this
constexpr Index kAtOnce = 16;     // columns that go through all outputs together
constexpr Index kStrip = 64;      // columns whose products are summed in float before they go into a double

#if defined(__GNUC__)
#define STREAMSIEVE_INLINE [[gnu::always_inline]] inline
#else
#define STREAMSIEVE_INLINE inline
#endif

// sum[a * R + i] += the columns of a tile (R rows each) times beta[a * stride + j], for outputs a < O;
// `count` is a multiple of kStep. With two outputs every value that is read is used twice.
template <Index O, class T>
STREAMSIEVE_INLINE void add_columns_of(const T* tile, Index R, const std::int32_t* columns, Index count,
                                       const float* beta, Index stride, float* sum) {
    for (Index j = 0; j < count; j += 4) {
        const T* x0 = tile + columns[j] * R;
        const T* x1 = tile + columns[j + 1] * R;
        const T* x2 = tile + columns[j + 2] * R;
        const T* x3 = tile + columns[j + 3] * R;
        const float *b = beta + j, *d = beta + (O - 1) * stride + j;
        const float b0 = b[0], b1 = b[1], b2 = b[2], b3 = b[3], d0 = d[0], d1 = d[1], d2 = d[2], d3 = d[3];
        float* last = sum + (O - 1) * R;
#pragma omp simd
        for (Index i = 0; i < R; ++i) {
            const float v0 = float(x0[i]), v1 = float(x1[i]), v2 = float(x2[i]), v3 = float(x3[i]);
            sum[i] += (b0 * v0 + b1 * v1) + (b2 * v2 + b3 * v3);
            if constexpr (O == 2) last[i] += (d0 * v0 + d1 * v1) + (d2 * v2 + d3 * v3);
        }
    }
}

// g[a * stride + j] += the products of four columns of a tile with r[a * R + i], for outputs a < O
template <Index O, class T>
STREAMSIEVE_INLINE void dot_columns_of(const T* tile, Index R, const std::int32_t* columns, const float* r,
                                       double* g, Index stride) {
    const T* x0 = tile + columns[0] * R;
    const T* x1 = tile + columns[1] * R;
    const T* x2 = tile + columns[2] * R;
    const T* x3 = tile + columns[3] * R;
    const float *q = r + (O > 1 ? R : 0), *p = r + (O > 2 ? 2 * R : 0);
    float s0 = 0, s1 = 0, s2 = 0, s3 = 0, t0 = 0, t1 = 0, t2 = 0, t3 = 0, u0 = 0, u1 = 0, u2 = 0, u3 = 0;
#pragma omp simd reduction(+ : s0, s1, s2, s3, t0, t1, t2, t3, u0, u1, u2, u3)
    for (Index i = 0; i < R; ++i) {
        const float v0 = float(x0[i]), v1 = float(x1[i]), v2 = float(x2[i]), v3 = float(x3[i]);
        s0 += r[i] * v0, s1 += r[i] * v1, s2 += r[i] * v2, s3 += r[i] * v3;
        if constexpr (O > 1) t0 += q[i] * v0, t1 += q[i] * v1, t2 += q[i] * v2, t3 += q[i] * v3;
        if constexpr (O > 2) u0 += p[i] * v0, u1 += p[i] * v1, u2 += p[i] * v2, u3 += p[i] * v3;
    }
    g[0] += double(s0), g[1] += double(s1), g[2] += double(s2), g[3] += double(s3);
    if constexpr (O > 1) {
        double* h = g + stride;
        h[0] += double(t0), h[1] += double(t1), h[2] += double(t2), h[3] += double(t3);
    }
    if constexpr (O > 2) {
        double* h = g + 2 * stride;
        h[0] += double(u0), h[1] += double(u1), h[2] += double(u2), h[3] += double(u3);
    }
}

#if defined(__x86_64__) && defined(__GNUC__)
#define STREAMSIEVE_AVX2 __attribute__((target("avx2,fma")))

// The same for 8-bit cells, eight of them widened at once. GCC widens 32 by way of 16 bits, which takes twice
// as long.
STREAMSIEVE_AVX2 inline __m256 eight(const std::int8_t* x) {
    return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(x))));
}
template <Index O>
STREAMSIEVE_AVX2 inline void add_codes_of(const std::int8_t* tile, Index R, const std::int32_t* columns,
                                          Index count, const float* beta, Index stride, float* sum) {
    constexpr Index C = O == 1 ? 8 : 4;  // columns that go through the rows together
    for (Index j = 0; j < count; j += C) {
        const std::int8_t* x[C];
        __m256 b[O][C];
        for (Index q = 0; q < C; ++q) {
            x[q] = tile + columns[j + q] * R;
            for (Index o = 0; o < O; ++o) b[o][q] = _mm256_set1_ps(beta[o * stride + j + q]);
        }
        for (Index i = 0; i < R; i += 8) {
            __m256 even[O], odd[O];
            for (Index o = 0; o < O; ++o) even[o] = _mm256_loadu_ps(sum + o * R + i);
            for (Index q = 0; q < C; q += 2) {
                const __m256 v = eight(x[q] + i), w = eight(x[q + 1] + i);
                for (Index o = 0; o < O; ++o) {
                    even[o] = _mm256_fmadd_ps(b[o][q], v, even[o]);
                    odd[o] = q ? _mm256_fmadd_ps(b[o][q + 1], w, odd[o]) : _mm256_mul_ps(b[o][1], w);
                }
            }
            for (Index o = 0; o < O; ++o) _mm256_storeu_ps(sum + o * R + i, _mm256_add_ps(even[o], odd[o]));
        }
    }
}
STREAMSIEVE_AVX2 inline double total(__m256 v) {
    const __m128 half = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    const __m128 pair = _mm_add_ps(half, _mm_movehl_ps(half, half));
    return double(_mm_cvtss_f32(_mm_add_ss(pair, _mm_movehdup_ps(pair))));
}
template <Index O>
STREAMSIEVE_AVX2 inline void dot_codes_of(const std::int8_t* tile, Index R, const std::int32_t* columns,
                                          const float* r, double* g, Index stride) {
    const std::int8_t* x[4];
    __m256 s[O][4];
    for (Index q = 0; q < 4; ++q) {
        x[q] = tile + columns[q] * R;
        for (Index o = 0; o < O; ++o) s[o][q] = _mm256_setzero_ps();
    }
    for (Index i = 0; i < R; i += 8)
        for (Index q = 0; q < 4; ++q) {
            const __m256 v = eight(x[q] + i);
            for (Index o = 0; o < O; ++o)
                s[o][q] = _mm256_fmadd_ps(_mm256_loadu_ps(r + o * R + i), v, s[o][q]);
        }
    for (Index o = 0; o < O; ++o)
        for (Index q = 0; q < 4; ++q) g[o * stride + q] += total(s[o][q]);
}
#endif

// For each type of cell, all c outputs; few columns at a time, which stay in the first-level cache with what
// is summed.
#define STREAMSIEVE_TILE_KERNELS(ATTRIBUTES, T, ADD, ADD_OF, DOT, DOT_OF)                              \
    ATTRIBUTES inline void ADD(const T* tile, Index R, const std::int32_t* columns, Index count,       \
                               const float* beta, Index stride, float* sum, Index c) {                 \
        for (Index j = 0; j < count; j += kAtOnce) {                                                   \
            const Index m = std::min(kAtOnce, count - j);                                              \
            Index a = 0;                                                                               \
            for (; a + 1 < c; a += 2)                                                                  \
                ADD_OF<2>(tile, R, columns + j, m, beta + a * stride + j, stride, sum + a * R);        \
            if (a < c) ADD_OF<1>(tile, R, columns + j, m, beta + a * stride + j, stride, sum + a * R); \
        }                                                                                              \
    }                                                                                                  \
    ATTRIBUTES inline void DOT(const T* tile, Index R, const std::int32_t* columns, Index count,       \
                               const float* r, double* g, Index stride, Index c) {                     \
        for (Index j = 0; j < count; j += 4) {                                                         \
            Index a = 0;                                                                               \
            for (; a + 2 < c; a += 3)                                                                  \
                DOT_OF<3>(tile, R, columns + j, r + a * R, g + a * stride + j, stride);                \
            if (a + 1 < c) DOT_OF<2>(tile, R, columns + j, r + a * R, g + a * stride + j, stride);     \
            if (a + 1 == c) DOT_OF<1>(tile, R, columns + j, r + a * R, g + a * stride + j, stride);    \
        }                                                                                              \
    }
STREAMSIEVE_TILE_KERNELS(STREAMSIEVE_CLONES, float, add_columns, add_columns_of, dot_columns, dot_columns_of)
STREAMSIEVE_TILE_KERNELS(STREAMSIEVE_CLONES, std::int8_t, add_codes, add_columns_of, dot_codes,
                         dot_columns_of)
#ifdef STREAMSIEVE_AVX2
STREAMSIEVE_TILE_KERNELS(STREAMSIEVE_AVX2, std::int8_t, add_codes_avx2, add_codes_of, dot_codes_avx2,
                         dot_codes_of)
inline const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
inline const auto add_codes_here = has_avx2 ? add_codes_avx2 : add_codes;
inline const auto dot_codes_here = has_avx2 ? dot_codes_avx2 : dot_codes;
#else
inline const auto add_codes_here = add_codes;
inline const auto dot_codes_here = dot_codes;
#endif
#undef STREAMSIEVE_TILE_KERNELS

inline void add_columns(const std::int8_t* tile, Index R, const std::int32_t* columns, Index count,
                        const float* beta, Index stride, float* sum, Index c) {
    add_codes_here(tile, R, columns, count, beta, stride, sum, c);
}
inline void dot_columns(const std::int8_t* tile, Index R, const std::int32_t* columns, Index count,
                        const float* r, double* g, Index stride, Index c) {
    dot_codes_here(tile, R, columns, count, r, g, stride, c);
}

// e += sum, sum = 0
STREAMSIEVE_CLONES inline void move_sums(float* sum, double* e, Index n) {
#pragma omp simd
    for (Index i = 0; i < n; ++i) e[i] += double(sum[i]), sum[i] = 0;
}

}  // namespace streamsieve::sieve
