// The arrays of a store, and the operator on some of its columns.
#pragma once
#include <memory>
#include <optional>
#include <variant>

#include "operators.hpp"
#include "store.hpp"

namespace streamsieve::sieve {

struct TileArrays {
    const float* cells;
};
struct CodeArrays {
    const std::int8_t* cells;
    Escapes escapes;
};
struct CsrArrays {
    const std::int64_t* indptr;
    const std::int32_t* indices;
    const float* data;
};

struct Source {
    std::variant<TileArrays, CodeArrays, CsrArrays> arrays;
    Index n = 0, width = 0, R = kMostRows;
    Index blocks() const { return (n + R - 1) / R; }
};

using Operator = std::variant<Tiles<float>, Tiles<std::int8_t>, SparseRows>;

// `weight` of the rows, or null where all count
inline Operator make_operator(const Source& s, const std::vector<std::int32_t>& active, Index c,
                              const float* weight) {
    const Index count = Index(active.size());
    if (const auto* x = std::get_if<TileArrays>(&s.arrays))
        return Tiles<float>(x->cells, s.n, s.width, s.R, active.data(), count, c);
    if (const auto* q = std::get_if<CodeArrays>(&s.arrays))
        return Tiles<std::int8_t>(q->cells, s.n, s.width, s.R, active.data(), count, c, q->escapes);
    const auto& x = std::get<CsrArrays>(s.arrays);
    return SparseRows(x.indptr, x.indices, x.data, s.n, s.width, active.data(), count, c, weight);
}

// Some columns of the store, copied so that a walk reads one after the other: tiles again; of sparse rows
// CSR, or tiles where these are denser or small.
class Copy {
  public:
    Source source;

    // Bytes that a copy may take; and of tiles that are not copied, since a cache holds them for all jobs.
    struct Limits {
        std::int64_t most = 0, cached = 0;
    };

    // A copy of `active`, if it saves work and stays within the limits.
    static std::unique_ptr<Copy> of(const Source& from, const std::vector<std::int32_t>& active,
                                    Limits limits) {
        if (const auto* x = std::get_if<CsrArrays>(&from.arrays))
            return of_csr(*x, from, active, limits.most);
        const Index count = Index(active.size());
        const auto* codes = std::get_if<CodeArrays>(&from.arrays);
        const Index column = from.R * (codes ? 1 : 4);
        const std::int64_t size = from.blocks() * column * count;
        const std::int64_t escapes = codes && codes->escapes.start ? codes->escapes.start[from.blocks()] : 0;
        if (from.blocks() * column * from.width < limits.cached) return nullptr;
        if (4 * count > 3 * from.width || size + 9 * escapes > limits.most) return nullptr;
        auto copy = std::make_unique<Copy>();
        copy->cells_.resize(std::size_t((size + 3) / 4));
        copy->select(from, active);
        return copy;
    }

    // Only `active` of the copied tiles stays, in the same memory, if that saves work.
    bool narrow(const std::vector<std::int32_t>& active) {
        if (std::holds_alternative<CsrArrays>(source.arrays) || 4 * Index(active.size()) > 3 * source.width)
            return false;
        select(Source(source), active);
        return true;
    }

  private:
    static std::vector<std::int32_t> places(Index width, const std::vector<std::int32_t>& active) {
        std::vector<std::int32_t> place(std::size_t(width), -1);
        for (std::size_t j = 0; j < active.size(); ++j) place[std::size_t(active[j])] = std::int32_t(j);
        return place;
    }
    static std::unique_ptr<Copy> of_csr(const CsrArrays& x, const Source& from,
                                        const std::vector<std::int32_t>& active, std::int64_t bytes) {
        const std::vector<std::int32_t> place = places(from.width, active);
        const std::int64_t all = x.indptr[from.n];
        std::int64_t nnz = 0;
        for (std::int64_t e = 0; e < all; ++e) nnz += place[std::size_t(x.indices[e])] >= 0;
        const Index count = Index(active.size());
        const std::int64_t cells = from.blocks() * kMostRows * count;
        const bool dense = cells <= 100'000 || 8 * nnz > cells;
        const bool saves = dense || 10 * nnz <= 7 * all || 4 * count <= from.width;
        if (!saves || (dense ? 4 * cells : 8 * nnz + 8 * from.n) > bytes) return nullptr;
        auto copy = std::make_unique<Copy>();
        copy->source.n = from.n, copy->source.width = count;
        if (dense) {
            copy->cells_.assign(std::size_t(cells), 0.0f);
            tiles_from_csr(x.indptr, x.indices, x.data, from.n, place.data(), count, kMostRows,
                           copy->cells_.data());
            copy->source.arrays = TileArrays{copy->cells_.data()};
        } else {
            copy->start_.resize(std::size_t(from.n + 1));
            copy->columns_.resize(std::size_t(nnz) + 1);
            copy->cells_.resize(std::size_t(nnz) + 1);
            select_csr(x.indptr, x.indices, x.data, from.n, place.data(), copy->start_.data(),
                       copy->columns_.data(), copy->cells_.data());
            copy->source.arrays = CsrArrays{copy->start_.data(), copy->columns_.data(), copy->cells_.data()};
        }
        return copy;
    }
    void select(const Source& from, const std::vector<std::int32_t>& active) {
        const auto* codes = std::get_if<CodeArrays>(&from.arrays);
        const void* cells = codes ? static_cast<const void*>(codes->cells)
                                  : static_cast<const void*>(std::get<TileArrays>(from.arrays).cells);
        source.n = from.n, source.width = Index(active.size()), source.R = from.R;
        select_tiles(static_cast<const unsigned char*>(cells), from.blocks(), from.width,
                     from.R * (codes ? 1 : 4), active.data(), source.width,
                     reinterpret_cast<unsigned char*>(cells_.data()));
        if (codes)
            source.arrays = CodeArrays{reinterpret_cast<const std::int8_t*>(cells_.data()),
                                       select_escapes(codes->escapes, from, active)};
        else
            source.arrays = TileArrays{cells_.data()};
    }
    Escapes select_escapes(const Escapes& x, const Source& from, const std::vector<std::int32_t>& active) {
        if (!x.start) return {};
        const std::vector<std::int32_t> place = places(from.width, active);
        std::vector<std::int64_t> start{0};
        std::vector<std::uint8_t> rows;
        std::vector<std::int32_t> columns;
        std::vector<float> values;
        for (Index k = 0; k < from.blocks(); ++k) {
            for (std::int64_t e = x.start[k]; e < x.start[k + 1]; ++e) {
                const std::int32_t j = place[std::size_t(x.column[e])];
                if (j >= 0) rows.push_back(x.row[e]), columns.push_back(j), values.push_back(x.value[e]);
            }
            start.push_back(std::int64_t(columns.size()));
        }
        start_.swap(start), rows_.swap(rows), columns_.swap(columns), values_.swap(values);
        return {start_.data(), rows_.data(), columns_.data(), values_.data()};
    }

    std::vector<float> cells_, values_;  // of codes four a float
    std::vector<std::int64_t> start_;
    std::vector<std::int32_t> columns_;
    std::vector<std::uint8_t> rows_;
};

}  // namespace streamsieve::sieve
