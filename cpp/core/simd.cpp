#include "core/simd.hpp"

#include <cmath>
#include <limits>

namespace streamsieve {

STREAMSIEVE_CLONES double largest_magnitude(const double* x, Index n) {
    double most = 0;
    std::int64_t unordered = 0;
#pragma omp simd reduction(max : most) reduction(| : unordered)
    for (Index i = 0; i < n; ++i) {
        const double size = std::abs(x[i]);
        most = size > most ? size : most;
        unordered |= std::int64_t(x[i] != x[i]);
    }
    return unordered ? std::numeric_limits<double>::quiet_NaN() : most;
}

STREAMSIEVE_CLONES float largest_magnitude(const float* x, Index n) {
    float most = 0;
    std::int32_t unordered = 0;
#pragma omp simd reduction(max : most) reduction(| : unordered)
    for (Index i = 0; i < n; ++i) {
        const float size = std::abs(x[i]);
        most = size > most ? size : most;
        unordered |= std::int32_t(x[i] != x[i]);
    }
    return unordered ? std::numeric_limits<float>::quiet_NaN() : most;
}

STREAMSIEVE_CLONES bool ascending(const std::int32_t* x, Index n) {
    std::int32_t falls = 0;
#pragma omp simd reduction(| : falls)
    for (Index i = 1; i < n; ++i) falls |= std::int32_t(x[i] <= x[i - 1]);
    return !falls;
}

STREAMSIEVE_CLONES bool ascending(const std::int64_t* x, Index n) {
    std::int64_t falls = 0;
#pragma omp simd reduction(| : falls)
    for (Index i = 1; i < n; ++i) falls |= std::int64_t(x[i] <= x[i - 1]);
    return !falls;
}

STREAMSIEVE_CLONES double dot(const double* a, const double* b, Index n) {
    double s = 0;
#pragma omp simd reduction(+ : s)
    for (Index i = 0; i < n; ++i) s += a[i] * b[i];
    return s;
}

STREAMSIEVE_CLONES void widen(const float* x, double* to, Index n) {
#pragma omp simd
    for (Index i = 0; i < n; ++i) to[i] = double(x[i]);
}

namespace {

// f(value), value(i) being x[i] as the map has it: every case is a loop of its own.
template <class F>
inline void with_map(const double* x, const double* center, const double* inverse, F f) {
    if (!center && !inverse)
        f([=](Index i) { return x[i]; });
    else if (!inverse)
        f([=](Index i) { return x[i] - center[i]; });
    else if (!center)
        f([=](Index i) { return x[i] * inverse[i]; });
    else
        f([=](Index i) { return (x[i] - center[i]) * inverse[i]; });
}

}  // namespace

STREAMSIEVE_CLONES void map_row(const double* x, const double* center, const double* inverse, double* to,
                                Index n) {
    with_map(x, center, inverse, [=](auto value) {
#pragma omp simd
        for (Index i = 0; i < n; ++i) to[i] = value(i);
    });
}

STREAMSIEVE_CLONES void axpy(double a, const double* x, const double* center, const double* inverse,
                             double* y, Index n) {
    with_map(x, center, inverse, [=](auto value) {
#pragma omp simd
        for (Index i = 0; i < n; ++i) y[i] += a * value(i);
    });
}

STREAMSIEVE_CLONES void axpy(double a, const double* x, double* y, Index n) {
#pragma omp simd
    for (Index i = 0; i < n; ++i) y[i] += a * x[i];
}

STREAMSIEVE_CLONES void square_norm(const double* x, Index n, double& square, double& count) {
    double s = 0, c = 0;
#pragma omp simd reduction(+ : s, c)
    for (Index i = 0; i < n; ++i) {
        s += x[i] * x[i];
        c += x[i] != 0 ? 1.0 : 0.0;
    }
    square = s, count = c;
}

STREAMSIEVE_CLONES void square_norm(const float* x, Index n, double& square, double& count) {
    double s = 0, c = 0;
#pragma omp simd reduction(+ : s, c)
    for (Index i = 0; i < n; ++i) {
        s += double(x[i]) * double(x[i]);
        c += x[i] != 0 ? 1.0 : 0.0;
    }
    square = s, count = c;
}

STREAMSIEVE_CLONES void dot_norm(const double* x, const double* center, const double* inverse,
                                 const double* w, Index n, double& dot, double& square, double& count) {
    with_map(x, center, inverse, [=, &dot, &square, &count](auto value) {
        double d = 0, s = 0, c = 0;
#pragma omp simd reduction(+ : d, s, c)
        for (Index i = 0; i < n; ++i) {
            const double v = value(i);
            d += v * w[i];
            s += v * v;
            c += v != 0 ? 1.0 : 0.0;
        }
        dot = d, square = s, count = c;
    });
}

STREAMSIEVE_CLONES void dot_norm(const float* x, const double* w, Index n, double& dot, double& square,
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

STREAMSIEVE_CLONES void axpy4(const double* a, const double* x0, const double* x1, const double* x2,
                              const double* x3, double* y, Index n) {
#pragma omp simd
    for (Index i = 0; i < n; ++i) y[i] += a[0] * x0[i] + a[1] * x1[i] + a[2] * x2[i] + a[3] * x3[i];
}

STREAMSIEVE_CLONES void dot4(const double* x0, const double* x1, const double* x2, const double* x3,
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
