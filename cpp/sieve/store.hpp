// Writing the store: rows into tiles of float or of 8-bit codes, or into CSR; fewer columns in place.
#pragma once
#include <cmath>
#include <cstring>

#include "core/rows.hpp"
#include "operators.hpp"

namespace streamsieve::sieve {

// What all ways to append share: the stored columns, what is subtracted, and the sums over rows so far.
struct Columns {
    const std::int32_t* source;  // stored column -> column of the rows that come
    Index width;
    const double* shift;   // (width)
    double *sum, *square;  // (width): sums of w x and w x^2, x as stored
    const double* weight;  // of the rows, or null
};

// Rows first ... first + n of a dense block go to rows at ... of the tiles. A tile that begins is cleared,
// since the kernels read it whole. `put(j, r, value, tile)` writes one value.
template <class T, class Cell, class Put>
void append_tiles(const T* X, Index row_stride, Index col_stride, Index n, const Columns& c, Cell* tiles,
                  Index R, Index at, Put put) {
    for (Index done = 0; done < n;) {
        const Index block = (at + done) / R, r0 = (at + done) % R, take = std::min(R - r0, n - done);
        Cell* tile = tiles + block * R * c.width;
        if (r0 == 0) std::memset(static_cast<void*>(tile), 0, std::size_t(R * c.width) * sizeof(Cell));
        constexpr Index strip = 16;  // a cache line of each row serves 16 columns
        for (Index j0 = 0; j0 < c.width; j0 += strip)
            for (Index r = 0; r < take; ++r) {
                const T* x = X + (done + r) * row_stride;
                const double w = c.weight ? c.weight[done + r] : 1.0;
                for (Index j = j0; j < std::min(j0 + strip, c.width); ++j) {
                    const float v = float(double(x[c.source[j] * col_stride]) - c.shift[j]);
                    c.sum[j] += w * double(v);
                    c.square[j] += w * double(v) * double(v);
                    put(tile, block, j, r0 + r, v);
                }
            }
        done += take;
    }
}

struct Escaped {
    std::vector<std::int64_t> tile;
    std::vector<std::uint8_t> row;
    std::vector<std::int32_t> column;
    std::vector<float> value;
};

// x = offset + unit (code + escape); a unit of 0 leaves all to the escape, in units of 1.
struct Coding {
    const double *offset, *unit;
    std::int8_t operator()(float v, Index j, float& rest) const {
        const double u = unit[j] > 0 ? (double(v) - offset[j]) / unit[j] : double(v) - offset[j];
        const double q = unit[j] > 0 ? std::clamp(std::nearbyint(u), -127.0, 127.0) : 0.0;
        rest = (unit[j] > 0 ? std::abs(u) > 127.5 : u != 0) ? float(u - q) : 0.0f;
        return std::int8_t(q);
    }
};

// Tiles of float become tiles of codes, in the same memory: a code is never written before its float is read.
inline void recode(unsigned char* memory, Index n, Index width, Index R, const Coding& coding, Escaped& out) {
    const Index tiles = (n + R - 1) / R;
    for (Index t = 0; t < tiles; ++t)
        for (Index j = 0; j < width; ++j)
            for (Index r = 0; r < R; ++r) {
                const Index cell = (t * width + j) * R + r;
                float v, rest = 0;
                std::memcpy(&v, memory + cell * 4, 4);
                const std::int8_t q = t * R + r < n ? coding(v, j, rest) : std::int8_t(0);
                std::memcpy(memory + cell, &q, 1);
                if (rest != 0) {
                    out.tile.push_back(t);
                    out.row.push_back(std::uint8_t(r));
                    out.column.push_back(std::int32_t(j));
                    out.value.push_back(rest);
                }
            }
}

// Only the columns `kept` (increasing) of the tiles stay, moved down in the same memory.
inline void narrow_tiles(unsigned char* memory, Index tiles, Index width, Index R, Index size,
                         const std::int32_t* kept, Index count) {
    const Index column = R * size;
    for (Index t = 0; t < tiles; ++t)
        for (Index j = 0; j < count; ++j)
            std::memmove(memory + (t * count + j) * column, memory + (t * width + kept[j]) * column,
                         std::size_t(column));
}

// CSR rows appended until memory would be exceeded; the number of rows that fit.
template <class T, class I>
Index append_csr(const Csr<T, I>& X, const std::int32_t* place, const Columns& c, std::int64_t* present,
                 std::int64_t* indptr, Index at, std::int32_t* indices, float* data, std::int64_t budget,
                 std::int64_t row_cost) {
    for (Index i = 0; i < X.rows; ++i) {
        const auto row = X[i];
        std::int64_t end = indptr[at];
        std::int64_t count = 0;
        for (Index e = 0; e < row.length; ++e)
            count += place[row.index(e)] >= 0 && float(row.value(e)) != 0.0f;
        if ((end + count) * 8 + (std::int64_t(at) + 1) * row_cost > budget) return i;
        const double w = c.weight ? c.weight[i] : 1.0;
        for (Index e = 0; e < row.length; ++e) {
            const std::int32_t j = place[row.index(e)];
            const float v = float(row.value(e));
            if (j < 0 || v == 0.0f) continue;
            indices[end] = j;
            data[end++] = v;
            c.sum[j] += w * double(v);
            c.square[j] += w * double(v) * double(v);
            ++present[j];
        }
        indptr[++at] = end;
    }
    return X.rows;
}

// The entries whose column has a place >= 0, into the arrays of `to` (which may be the same).
inline std::int64_t select_csr(const std::int64_t* indptr, const std::int32_t* indices, const float* data,
                               Index n, const std::int32_t* place, std::int64_t* to_indptr,
                               std::int32_t* to_indices, float* to_data) {
    std::int64_t end = 0, start = indptr[0];
    to_indptr[0] = 0;
    for (Index i = 0; i < n; ++i) {
        const std::int64_t stop = indptr[i + 1];
        for (std::int64_t e = start; e < stop; ++e) {
            const std::int32_t j = place[indices[e]];
            if (j < 0) continue;
            to_indices[end] = j;
            to_data[end++] = data[e];
        }
        start = stop;
        to_indptr[i + 1] = end;
    }
    return end;
}

// Tiles of float of the columns that have a place (count of them), from CSR; `tiles` is zero before.
inline void tiles_from_csr(const std::int64_t* indptr, const std::int32_t* indices, const float* data,
                           Index n, const std::int32_t* place, Index count, Index R, float* tiles) {
    for (Index i = 0; i < n; ++i)
        for (std::int64_t e = indptr[i]; e < indptr[i + 1]; ++e)
            if (const std::int32_t j = place[indices[e]]; j >= 0)
                tiles[(i / R * count + j) * R + i % R] = data[e];
}

// Rows [first, first + n) of the store as (n, count) doubles, of the columns that have a place.
template <class T>
void decode_tiles(const T* tiles, Index width, Index R, const Escapes& escapes, Index first, Index n,
                  const std::int32_t* place, Index count, double* out) {
    for (Index block = first / R; block <= (first + n - 1) / R && n > 0; ++block) {
        const Index r0 = std::max(first - block * R, Index(0)), r1 = std::min(first + n - block * R, R);
        for (Index j = 0; j < width; ++j) {
            if (place[j] < 0) continue;
            const T* x = tiles + (block * width + j) * R;
            for (Index r = r0; r < r1; ++r) out[(block * R + r - first) * count + place[j]] = double(x[r]);
        }
        if (!escapes.start) continue;
        for (std::int64_t e = escapes.start[block]; e < escapes.start[block + 1]; ++e) {
            const Index r = Index(escapes.row[e]);
            const std::int32_t j = place[escapes.column[e]];
            if (j >= 0 && r >= r0 && r < r1)
                out[(block * R + r - first) * count + j] += double(escapes.value[e]);
        }
    }
}

inline void decode_csr(const std::int64_t* indptr, const std::int32_t* indices, const float* data,
                       Index first, Index n, const std::int32_t* place, Index count, double* out) {
    std::fill(out, out + n * count, 0.0);
    for (Index i = 0; i < n; ++i)
        for (std::int64_t e = indptr[first + i]; e < indptr[first + i + 1]; ++e)
            if (const std::int32_t j = place[indices[e]]; j >= 0) out[i * count + j] = double(data[e]);
}

}  // namespace streamsieve::sieve
