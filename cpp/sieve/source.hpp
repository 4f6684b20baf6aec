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

inline Operator make_operator(const Source& s, const std::vector<std::int32_t>& active, Index c) {
    const Index count = Index(active.size());
    if (const auto* x = std::get_if<TileArrays>(&s.arrays))
        return Tiles<float>(x->cells, s.n, s.width, s.R, active.data(), count, c);
    if (const auto* q = std::get_if<CodeArrays>(&s.arrays))
        return Tiles<std::int8_t>(q->cells, s.n, s.width, s.R, active.data(), count, c, q->escapes);
    const auto& x = std::get<CsrArrays>(s.arrays);
    return SparseRows(x.indptr, x.indices, x.data, s.n, s.width, active.data(), count, c);
}

// Few columns of sparse rows, copied: CSR again, or tiles where these are denser or small.
class Copy {
  public:
    Source source;

    // A copy of `active`, if it saves work and stays within `bytes`.
    static std::unique_ptr<Copy> of(const Source& from, const std::vector<std::int32_t>& active,
                                    std::int64_t bytes) {
        const auto* x = std::get_if<CsrArrays>(&from.arrays);
        if (!x) return nullptr;
        std::vector<std::int32_t> place(std::size_t(from.width), -1);
        for (std::size_t j = 0; j < active.size(); ++j) place[std::size_t(active[j])] = std::int32_t(j);
        const std::int64_t all = x->indptr[from.n];
        std::int64_t nnz = 0;
        for (std::int64_t e = 0; e < all; ++e) nnz += place[std::size_t(x->indices[e])] >= 0;
        const Index count = Index(active.size());
        const std::int64_t cells = from.blocks() * kMostRows * count;
        const bool dense = cells <= 100'000 || 8 * nnz > cells;
        if ((dense ? 4 * cells : 8 * nnz + 8 * from.n) > bytes || (!dense && 10 * nnz > 7 * all))
            return nullptr;
        auto copy = std::make_unique<Copy>();
        copy->source.n = from.n, copy->source.width = count;
        if (dense) {
            copy->cells_.assign(std::size_t(cells), 0.0f);
            tiles_from_csr(x->indptr, x->indices, x->data, from.n, place.data(), count, kMostRows,
                           copy->cells_.data());
            copy->source.arrays = TileArrays{copy->cells_.data()};
        } else {
            copy->indptr_.resize(std::size_t(from.n + 1));
            copy->indices_.resize(std::size_t(nnz));
            copy->cells_.resize(std::size_t(nnz));
            select_csr(x->indptr, x->indices, x->data, from.n, place.data(), copy->indptr_.data(),
                       copy->indices_.data(), copy->cells_.data());
            copy->source.arrays = CsrArrays{copy->indptr_.data(), copy->indices_.data(), copy->cells_.data()};
        }
        return copy;
    }

  private:
    std::vector<float> cells_;
    std::vector<std::int64_t> indptr_;
    std::vector<std::int32_t> indices_;
};

}  // namespace streamsieve::sieve
