#include "averages/gram.hpp"

#include "core/bind.hpp"

namespace streamsieve {
namespace {

using namespace nb::literals;

template <class T>
void bind_impute_dense(nb::module_& m) {
    m.def(
        "impute_dense",
        [](Matrix<T> X, Vector<const double> r, Vector<double> sum, double weight,
           Vector<std::int64_t> count) {
            impute(X.data(), Index(X.shape(0)), Index(X.shape(1)), r.data(), sum.data(), weight,
                   count.data());
            return weight;
        },
        "X"_a.noconvert(), "r"_a, "sum"_a.noconvert(), "weight"_a, "count"_a.noconvert(), NoGil());
}

template <class T, class B>
void bind_pack(nb::module_& m) {
    m.def(
        "pack",
        [](AnyMatrix<T> X, Matrix<const double> y, Vector<const double> root, Vector<const double> center,
           Matrix<B> block, Index at) {
            pack(strided(X),
                 Strided<double>{y.data(), Index(y.shape(0)), Index(y.shape(1)), Index(y.shape(1)), 1},
                 root.data(), center.data(), block.data() + at * Index(block.shape(1)));
        },
        "X"_a.noconvert(), "y"_a, "root"_a, "center"_a, "block"_a.noconvert(), "at"_a, NoGil());
}

template <class T>
void bind_impute_csr(nb::module_& m) {
    m.def(
        "impute_csr",
        [](Vector<const std::int32_t> indptr, Vector<const std::int32_t> indices, Vector<T> data,
           Vector<const double> r, Vector<double> sum, double weight, Vector<std::int64_t> count) {
            const Csr<T, std::int32_t> X{indptr.data(), indices.data(), data.data(),
                                         Index(indptr.shape(0)) - 1};
            impute(data.data(), X, r.data(), sum.data(), weight, count.data());
            return weight;
        },
        "indptr"_a.noconvert(), "indices"_a.noconvert(), "data"_a.noconvert(), "r"_a, "sum"_a.noconvert(),
        "weight"_a, "count"_a.noconvert(), NoGil());
}

template <class T, class M>
void bind_gram_csr(nb::module_& m) {
    m.def(
        "gram_csr",
        [](Vector<const std::int32_t> indptr, Vector<const std::int32_t> indices, Vector<const T> data,
           Vector<const double> r, Vector<const std::uint8_t> sparse, Matrix<const double> extra,
           Vector<const std::int64_t> where, Matrix<M> moments, unsigned threads) {
            gram_csr(csr(indptr, indices, data), r.data(), sparse.data(), Index(sparse.shape(0)),
                     extra.data(), where.data(), Index(extra.shape(1)), moments.data(),
                     Index(moments.shape(1)), threads);
        },
        "indptr"_a.noconvert(), "indices"_a.noconvert(), "data"_a.noconvert(), "r"_a, "sparse"_a, "extra"_a,
        "where"_a, "moments"_a.noconvert(), "threads"_a, NoGil());
}

template <class M>
void bind_standardize(nb::module_& m) {
    m.def(
        "standardize",
        [](Matrix<const M> moments, double weight, Vector<const double> d, Vector<const double> scale,
           double limit, Matrix<double> out, Vector<std::uint8_t> copy) {
            standardize(moments.data(), Index(moments.shape(1)), Index(d.shape(0)), weight, d.data(),
                        scale.data(), limit, out.data(), copy.data());
        },
        "moments"_a.noconvert(), "weight"_a, "d"_a, "scale"_a, "limit"_a, "out"_a.noconvert(),
        "copy"_a.noconvert(), NoGil());
}

}  // namespace

const Binding bindings([](nb::module_& m) {
    bind_impute_dense<float>(m);
    bind_impute_dense<double>(m);
    bind_pack<float, float>(m);
    bind_pack<float, double>(m);
    bind_pack<double, float>(m);
    bind_pack<double, double>(m);
    bind_impute_csr<float>(m);
    bind_impute_csr<double>(m);
    bind_gram_csr<float, float>(m);
    bind_gram_csr<double, float>(m);
    bind_gram_csr<float, double>(m);
    bind_gram_csr<double, double>(m);
    bind_standardize<float>(m);
    bind_standardize<double>(m);
});

}  // namespace streamsieve
