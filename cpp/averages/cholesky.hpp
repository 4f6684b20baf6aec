// A Cholesky factor that follows a changing set of features: U'U = R_AA + diag(c), with A = at[0..m).
// U is upper triangular, row-major, with a leading dimension `ld` >= m that leaves room to grow; what is
// below the diagonal is never read.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>

#include "core/simd.hpp"

namespace streamsieve {

// x <- c x + s y, y <- c y - s x, with the result for x written one place to the left in `out`
STREAMSIEVE_CLONES inline void rotate(double c, double s, const double* x, double* y, double* out, Index n) {
#pragma omp simd
    for (Index i = 0; i < n; ++i) {
        const double u = x[i], v = y[i];
        out[i] = c * u + s * v;
        y[i] = c * v - s * u;
    }
}

// w_t -= a_t x for four right-hand sides at once: one reading of x
STREAMSIEVE_CLONES inline void axpy_to4(const double* a, const double* x, double* w0, double* w1, double* w2,
                                        double* w3, Index n) {
#pragma omp simd
    for (Index i = 0; i < n; ++i) {
        w0[i] -= a[0] * x[i];
        w1[i] -= a[1] * x[i];
        w2[i] -= a[2] * x[i];
        w3[i] -= a[3] * x[i];
    }
}

// w_t -= sum_r a[4 r + t] x_r for four right-hand sides and four rows: all of it stays in registers
STREAMSIEVE_CLONES inline void axpy4_to4(const double* a, const double* x0, const double* x1,
                                         const double* x2, const double* x3, double* w0, double* w1,
                                         double* w2, double* w3, Index n) {
#pragma omp simd
    for (Index i = 0; i < n; ++i) {
        w0[i] -= a[0] * x0[i] + a[4] * x1[i] + a[8] * x2[i] + a[12] * x3[i];
        w1[i] -= a[1] * x0[i] + a[5] * x1[i] + a[9] * x2[i] + a[13] * x3[i];
        w2[i] -= a[2] * x0[i] + a[6] * x1[i] + a[10] * x2[i] + a[14] * x3[i];
        w3[i] -= a[3] * x0[i] + a[7] * x1[i] + a[11] * x2[i] + a[15] * x3[i];
    }
}

// Appends features at[m..m+s), whose diagonal terms are c. Stops before the first one that the others explain
// to within `tol` of its own diagonal; returns the new m. O(s m^2).
inline Index append_block(const double* R, Index p, const std::int64_t* at, Index m, const double* c, Index s,
                          double tol, double* U, Index ld) {
    // W = U^-T R_AN, one row per new feature, padded to whole groups of four
    const Index groups = (s + 3) / 4, width = m + s;
    const auto holder = std::make_unique<double[]>(std::size_t(4 * groups * width));
    double* W = holder.get();
    for (Index t = 0; t < s; ++t) {
        const double* row = R + at[m + t] * p;
        for (Index i = 0; i < width; ++i) W[t * width + i] = row[at[i]];
        W[t * width + m + t] += c[t];
    }
    const auto eliminate = [&](Index i, Index end) {  // row i from what comes before `end`
        const double* row = U + i * ld;
        const double over = 1 / row[i];
        for (Index group = 0; group < groups; ++group) {
            double* w = W + 4 * group * width;
            const double a[] = {w[i] *= over, w[width + i] *= over, w[2 * width + i] *= over,
                                w[3 * width + i] *= over};
            axpy_to4(a, row + i + 1, w + i + 1, w + width + i + 1, w + 2 * width + i + 1,
                     w + 3 * width + i + 1, end - i - 1);
        }
    };
    Index top = 0;
    for (; top + 4 < m; top += 4) {
        const Index below = top + 4;
        for (Index i = top; i < below; ++i) eliminate(i, below);
        const double* row = U + top * ld + below;
        for (Index group = 0; group < groups; ++group) {
            double* w = W + 4 * group * width;
            double a[16];
            for (Index r = 0; r < 4; ++r)
                for (Index t = 0; t < 4; ++t) a[4 * r + t] = w[t * width + top + r];
            axpy4_to4(a, row, row + ld, row + 2 * ld, row + 3 * ld, w + below, w + width + below,
                      w + 2 * width + below, w + 3 * width + below, m - below);
        }
    }
    for (; top < m; ++top) eliminate(top, m);
    Index done = 0;
    for (bool independent = true; done < s && independent; done += independent) {
        double* w = W + done * width;
        const Index t = done;
        const double size = w[m + t];
        // the new features among themselves
        for (Index u = 0; u <= t; ++u) {
            const double* v = W + u * width;
            const double left = w[m + u] - dot(v, w, m + u);
            if (u < t) {
                w[m + u] = left / v[m + u];
            } else {
                independent = left > tol * std::abs(size);
                if (independent) w[m + u] = std::sqrt(left);
            }
        }
    }
    // row by row: the lines of a column are far apart
    for (Index i = 0; i < m + done; ++i)
        for (Index t = std::max(i - m, Index(0)); t < done; ++t) U[i * ld + m + t] = W[t * width + i];
    return m + done;
}

// The same in blocks, so that little is computed beyond the feature at which it stops.
inline Index chol_append(const double* R, Index p, const std::int64_t* at, Index m, const double* c, Index s,
                         double tol, double* U, Index ld) {
    constexpr Index block = 16;
    for (Index from = 0; from < s; from += block) {
        const Index length = std::min(block, s - from), end = m + length;
        m = append_block(R, p, at, m, c + from, length, tol, U, ld);
        if (m < end) break;
    }
    return m;
}

// Removes the feature in position k: a rank-one update of what follows it. O((m - k)^2 + k (m - k)).
inline void chol_remove(std::int64_t* at, Index m, Index k, double* U, Index ld) {
    const auto x = std::make_unique_for_overwrite<double[]>(std::size_t(m));
    std::copy(U + k * ld + k + 1, U + k * ld + m, x.get() + k + 1);
    for (Index i = 0; i < k; ++i) std::copy(U + i * ld + k + 1, U + i * ld + m, U + i * ld + k);
    for (Index i = k + 1; i < m; ++i) {
        const double* row = U + i * ld;
        const double h = std::hypot(row[i], x[i]);
        rotate(row[i] / h, x[i] / h, row + i, x.get() + i, U + (i - 1) * ld + i - 1, m - i);
    }
    std::copy(at + k + 1, at + m, at + k);
}

// x <- (U'U)^-1 x. O(m^2).
inline void chol_solve(const double* U, Index ld, Index m, double* x) {
    // four rows at a time: x is read and written a quarter as often
    const Index whole = m - m % 4;
    const auto forward = [&](Index from, Index to, Index end) {
        for (Index i = from; i < to; ++i) {
            x[i] /= U[i * ld + i];
            for (Index j = i + 1; j < end; ++j) x[j] -= x[i] * U[i * ld + j];
        }
    };
    for (Index i = 0; i < whole; i += 4) {
        forward(i, i + 4, i + 4);
        const double a[] = {-x[i], -x[i + 1], -x[i + 2], -x[i + 3]};
        const double* row = U + i * ld + i + 4;
        axpy4(a, row, row + ld, row + 2 * ld, row + 3 * ld, x + i + 4, m - i - 4);
    }
    forward(whole, m, m);
    const auto backward = [&](Index from, Index to, Index end) {
        for (Index i = to; i-- > from;) {
            for (Index j = i + 1; j < end; ++j) x[i] -= x[j] * U[i * ld + j];
            x[i] /= U[i * ld + i];
        }
    };
    backward(whole, m, m);
    for (Index i = whole; i > 0; i -= 4) {
        const double* row = U + (i - 4) * ld + i;
        double sums[4];
        dot4(row, row + ld, row + 2 * ld, row + 3 * ld, x + i, sums, m - i);
        for (Index r = 0; r < 4; ++r) x[i - 4 + r] -= sums[r];
        backward(i - 4, i, i);
    }
}

}  // namespace streamsieve
