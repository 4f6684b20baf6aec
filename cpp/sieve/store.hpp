// Writing the store: rows into tiles of float or of 8-bit codes, or into CSR; fewer columns in place.
#pragma once
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/rows.hpp"
#include "operators.hpp"

namespace streamsieve::sieve {

// What all ways to append share: the stored columns, what is subtracted, and the sums over rows so far.
struct Columns {
    const std::int32_t* source;  // stored column -> column of the rows that come
    Index width;
    const double* shift;   // (width)
    double *sum, *square;  // (width): sums of w x and w x^2, x as stored
    double *low, *high;    // (width): the least and the largest x
    const double* weight;  // of the rows, or null
};

constexpr Index kTogether = 16;  // columns appended side by side: a cache line of each row of floats

// Sums of w x and w x^2, the least and the largest x of kTogether columns.
struct Moments {
    double sum[kTogether] = {}, square[kTogether] = {}, low[kTogether] = {}, high[kTogether] = {};
};

// Adds rows of kTogether values, row after row, so that cuts change no bit.
STREAMSIEVE_CLONES inline void add_moments(const float* values, Index rows, const double* weight,
                                           Moments& m) {
    for (Index r = 0; r < rows; ++r) {
        const double w = weight ? weight[r] : 1.0;
#pragma omp simd
        for (Index j = 0; j < kTogether; ++j) {
            const double v = double(values[r * kTogether + j]);
            m.sum[j] += w * v;
            m.square[j] += w * v * v;
            m.low[j] = v < m.low[j] ? v : m.low[j];
            m.high[j] = v > m.high[j] ? v : m.high[j];
        }
    }
}

// n rows of a dense block go to rows at ... of the tiles, their columns [from, to): threads have columns of
// their own. A tile that begins is cleared, since the kernels read it whole. `put(tile, block, j, m, r, rows,
// values)` writes m columns from j on of these rows, of which values[kTogether * row + column] are the
// numbers.
template <class T, class Cell, class Put>
void append_columns(const T* X, Index row_stride, Index col_stride, Index n, const Columns& c, Cell* tiles,
                    Index R, Index at, Index from, Index to, const Put& put) {
    float values[kMostRows * kTogether];
    for (Index done = 0; done < n;) {
        const Index block = (at + done) / R, r0 = (at + done) % R, rows = std::min(R - r0, n - done);
        Cell* tile = tiles + block * R * c.width;
        if (r0 == 0)
            std::memset(static_cast<void*>(tile + from * R), 0, std::size_t(R * (to - from)) * sizeof(Cell));
        for (Index j0 = from; j0 < to; j0 += kTogether) {
            const Index m = std::min(kTogether, to - j0);
            const std::int32_t* source = c.source + j0;
            const double* shift = c.shift + j0;
            const bool whole = m == kTogether && col_stride == 1 && source[m - 1] - source[0] == m - 1;
            for (Index r = 0; r < rows; ++r) {
                const T* x = X + (done + r) * row_stride;
                float* row = values + r * kTogether;
                if (whole)
                    for (Index j = 0; j < kTogether; ++j) row[j] = float(double(x[source[0] + j]) - shift[j]);
                else
                    for (Index j = 0; j < kTogether; ++j)
                        row[j] = j < m ? float(double(x[source[j] * col_stride]) - shift[j]) : 0.0f;
            }
            Moments moments;
            const std::pair<double*, double*> fields[] = {{c.sum, moments.sum},
                                                          {c.square, moments.square},
                                                          {c.low, moments.low},
                                                          {c.high, moments.high}};
            for (const auto& [all, some] : fields) std::copy(all + j0, all + j0 + m, some);
            add_moments(values, rows, c.weight ? c.weight + done : nullptr, moments);
            for (const auto& [all, some] : fields) std::copy(some, some + m, all + j0);
            put(tile, block, j0, m, r0, rows, static_cast<const float*>(values));
        }
        done += rows;
    }
}

// All columns; `put(t)` is what thread t writes with.
template <class T, class Cell, class Put>
void append_tiles(const T* X, Index row_stride, Index col_stride, Index n, const Columns& c, Cell* tiles,
                  Index R, Index at, unsigned threads, const Put& put) {
    const Index strips = (c.width + kTogether - 1) / kTogether;
    const auto edge = [&](unsigned t) { return std::min(share(strips, t, threads) * kTogether, c.width); };
    parallel(threads, [&](unsigned t) {
        append_columns(X, row_stride, col_stride, n, c, tiles, R, at, edge(t), edge(t + 1), put(t));
    });
}

struct Escaped {
    std::vector<std::int64_t> tile;
    std::vector<std::uint8_t> row;
    std::vector<std::int32_t> column;
    std::vector<float> value;
};

// What several threads have escaped, each in the order of the tiles.
inline Escaped merge(std::vector<Escaped>&& parts) {
    if (parts.size() == 1) return std::move(parts[0]);
    Escaped out;
    std::vector<std::pair<const Escaped*, std::size_t>> next;
    for (const Escaped& part : parts) next.emplace_back(&part, 0);
    for (;;) {
        std::int64_t tile = std::numeric_limits<std::int64_t>::max();
        for (const auto& [e, i] : next)
            if (i < e->tile.size()) tile = std::min(tile, e->tile[i]);
        if (tile == std::numeric_limits<std::int64_t>::max()) return out;
        for (auto& [e, i] : next)
            for (; i < e->tile.size() && e->tile[i] == tile; ++i) {
                out.tile.push_back(tile), out.row.push_back(e->row[i]);
                out.column.push_back(e->column[i]), out.value.push_back(e->value[i]);
            }
    }
}

// Codes of values u = (v - offset) rate, at most 127; whether one is beyond its limit
STREAMSIEVE_CLONES inline bool encode(const float* v, Index n, const float* offset, const float* rate,
                                      const float* limit, std::int8_t* code) {
    int beyond = 0;
#pragma omp simd reduction(| : beyond)
    for (Index i = 0; i < n; ++i) {
        const float u = (v[i] - offset[i]) * rate[i], most = limit[i] < 127.0f ? limit[i] : 127.0f;
        const float q = std::nearbyint(u > most ? most : u < -most ? -most : u);
        code[i] = std::int8_t(int(q));
        beyond |= std::abs(u) > limit[i];
    }
    return beyond != 0;
}

// x = offset + unit (code + escape); a unit of 0 leaves all to the escape, in units of 1.
struct Coding {
    std::vector<float> offset, rate, limit;  // of the columns, padded to whole steps of kTogether
    const double *offsets, *units;

    Coding(const double* offset_, const double* unit, Index w)
        : offset(std::size_t((w + kTogether - 1) / kTogether * kTogether), 0.0f),
          rate(offset.size(), 1.0f),
          limit(offset.size(), 0.0f),
          offsets(offset_),
          units(unit) {
        for (std::size_t j = 0; j < std::size_t(w); ++j) {
            offset[j] = float(offsets[j]);
            if (units[j] > 0) rate[j] = float(1.0 / units[j]), limit[j] = 127.5f;
        }
    }
    // What a code is missing, into the list where it is beyond the limit.
    void escape(float v, std::int8_t code, Index tile, Index r, Index j, Escaped& out) const {
        const std::size_t at = std::size_t(j);
        if (!(std::abs((v - offset[at]) * rate[at]) > limit[at])) return;  // as `encode` has it
        const double u = units[j] > 0 ? (double(v) - offsets[j]) / units[j] : double(v) - offsets[j];
        out.tile.push_back(tile);
        out.row.push_back(std::uint8_t(r));
        out.column.push_back(std::int32_t(j));
        out.value.push_back(float(std::clamp(u - double(code), -3e38, 3e38)));  // a float is no more
    }
};

// What `append_tiles` writes with: floats as they are,
struct PutFloats {
    Index R;
    void operator()(float* tile, Index, Index j0, Index count, Index r0, Index rows, const float* v) const {
        for (Index j = 0; j < count; ++j)
            for (Index r = 0; r < rows; ++r) tile[(j0 + j) * R + r0 + r] = v[r * kTogether + j];
    }
};

// or their codes, and what these are missing.
struct PutCodes {
    Index R;
    const Coding& coding;
    Escaped& escaped;
    void operator()(std::int8_t* tile, Index block, Index j0, Index count, Index r0, Index rows,
                    const float* v) const {
        std::int8_t code[kMostRows * kTogether];
        bool beyond = false;
        for (Index r = 0; r < rows; ++r)
            beyond |= encode(v + r * kTogether, kTogether, coding.offset.data() + j0, coding.rate.data() + j0,
                             coding.limit.data() + j0, code + r * kTogether);
        for (Index j = 0; j < count; ++j)
            for (Index r = 0; r < rows; ++r) tile[(j0 + j) * R + r0 + r] = code[r * kTogether + j];
        if (!beyond) return;
        for (Index r = 0; r < rows; ++r)
            for (Index j = 0; j < count; ++j)
                coding.escape(v[r * kTogether + j], code[r * kTogether + j], block, r0 + r, j0 + j, escaped);
    }
};

// Tiles of float become tiles of codes, in the same memory: a code is never written before its float is read.
inline void recode(unsigned char* memory, Index n, Index width, Index R, const Coding& coding, Escaped& out) {
    const Index tiles = (n + R - 1) / R;
    float v[kMostRows], offset[kMostRows], rate[kMostRows], limit[kMostRows];
    std::int8_t code[kMostRows];
    for (Index t = 0; t < tiles; ++t)
        for (Index j = 0; j < width; ++j) {
            const Index cell = (t * width + j) * R, rows = std::min(R, n - t * R);
            std::memcpy(v, memory + cell * 4, std::size_t(4 * R));
            std::fill(offset, offset + rows, coding.offset[std::size_t(j)]);
            std::fill(rate, rate + rows, coding.rate[std::size_t(j)]);
            std::fill(limit, limit + rows, coding.limit[std::size_t(j)]);
            std::fill(code, code + R, std::int8_t(0));
            const bool beyond = encode(v, rows, offset, rate, limit, code);
            std::memcpy(memory + cell, code, std::size_t(R));
            if (!beyond) continue;
            for (Index r = 0; r < rows; ++r) coding.escape(v[r], code[r], t, r, j, out);
        }
}

// Only the columns `kept` (increasing) of the tiles, each of so many bytes; `to` may be the same memory.
inline void select_tiles(const unsigned char* tiles, Index count_tiles, Index width, Index column,
                         const std::int32_t* kept, Index count, unsigned char* to) {
    for (Index t = 0; t < count_tiles; ++t)
        for (Index j = 0; j < count; ++j)
            std::memmove(to + (t * count + j) * column, tiles + (t * width + kept[j]) * column,
                         std::size_t(column));
}

// A number for the content of each row, as it is stored: equal for copies, however they are laid out. How
// many values are not zero.
template <class Rows>
std::int64_t row_keys(const Rows& X, std::uint32_t* key) {
    std::int64_t values = 0;
    for (Index i = 0; i < X.rows; ++i) {
        std::uint64_t sum = 0;
        X[i].each([&](Index j, double x) {
            const float v = float(x);
            const std::uint64_t r = (std::uint64_t(j) + 1) * 0x9E3779B97F4A7C15u;  // of the column
            sum += (r ^ (r >> 32)) * (v != 0.0f ? std::bit_cast<std::uint32_t>(v) : 0u);
            values += v != 0.0f;
        });
        sum ^= sum >> 31, sum *= 0xBF58476D1CE4E5B9u;
        key[i] = std::uint32_t(sum >> 32);
    }
    return values;
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
            c.low[j] = std::min(c.low[j], double(v)), c.high[j] = std::max(c.high[j], double(v));
            ++present[j];
        }
        indptr[++at] = end;
    }
    return X.rows;
}

// The entries whose column has a place >= 0, into arrays that have room for one more, or that are the same.
inline std::int64_t select_csr(const std::int64_t* indptr, const std::int32_t* indices, const float* data,
                               Index n, const std::int32_t* place, std::int64_t* to_indptr,
                               std::int32_t* to_indices, float* to_data) {
    std::int64_t end = 0, start = indptr[0];
    to_indptr[0] = 0;
    for (Index i = 0; i < n; ++i) {
        const std::int64_t stop = indptr[i + 1];
        for (std::int64_t e = start; e < stop; ++e) {
            const std::int32_t j = place[indices[e]];  // no branch: it could not be predicted
            to_indices[end] = j;
            to_data[end] = data[e];
            end += j >= 0;
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
