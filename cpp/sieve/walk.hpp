// Walks over the rows of a store that many jobs share; losses and margins of a model.
#pragma once
#include "core/parallel.hpp"
#include "job.hpp"

namespace streamsieve::sieve {

constexpr Index kCached = 32;              // columns of a tile that a first-level cache holds
constexpr Index kUntilPoll = 100'000'000;  // multiplications between looks for an interrupt

// Groups of blocks with a sum each: by the size of the problem alone, so that threads do not change a bit.
inline Index groups_of(const Source& source, Index c) {
    Index sums = (Index(8) << 20) / (8 * std::max<Index>(source.width * c, 1));
    if (const auto* x = std::get_if<CsrArrays>(&source.arrays))  // adding the sums is to be little of a walk
        sums = std::min(sums, x->indptr[source.n] / (8 * std::max<Index>(source.width, 1)));
    return std::clamp<Index>(std::min(sums, source.blocks()), 1, 16);
}

// All jobs to their next steps, in one walk.
inline void walk(const std::vector<Job*>& open, const Common& common, unsigned threads) {
    const Index blocks = common.source.blocks(), c = common.target.c;
    // Jobs of few outputs go through a block side by side, some columns at a time that stay in the cache;
    // with many outputs each column is used often enough by one job.
    const Index width = common.source.width;
    Index densest = 1;
    for (const Job* job : open) densest = std::max(densest, job->columns());
    const Index strip = c < 4 ? std::max<Index>(kCached * width / densest, 1) : width;
    const std::size_t side_by_side = c < 4 ? open.size() : 1;
    parallel(threads, [&](unsigned t) {
        std::vector<Job::Scratch> scratch(side_by_side);
        for (Index group = t; group < common.groups; group += threads)
            for (Index k = group * blocks / common.groups; k < (group + 1) * blocks / common.groups; ++k)
                for (std::size_t from = 0; from < open.size(); from += side_by_side) {
                    Job* const* some = open.data() + from;
                    for (std::size_t j = 0; j < side_by_side; ++j) some[j]->open(scratch[j]);
                    for (Index column = strip; column < width + strip; column += strip)
                        for (std::size_t j = 0; j < side_by_side; ++j)
                            some[j]->forward(k, column, scratch[j]);
                    for (std::size_t j = 0; j < side_by_side; ++j) some[j]->turn(k, group, scratch[j]);
                    for (Index column = strip; column < width + strip; column += strip)
                        for (std::size_t j = 0; j < side_by_side; ++j)
                            some[j]->backward(k, column, group, scratch[j]);
                }
    });
    for (Job* job : open) job->advance();
}

// All jobs to their end; `poll` is called between walks of much work and may throw. A job with a copy of its
// columns shares no memory with the others: it goes on alone, while its copy is in the cache.
template <class Poll>
void run(std::vector<Job>& jobs, const Common& common, unsigned threads, Poll poll) {
    Index since = 0;
    std::vector<Job*> open, alone;
    for (;;) {
        open.clear(), alone.clear();
        for (Job& job : jobs)
            if (!job.done()) (job.has_copy() ? alone : open).push_back(&job);
        if (alone.empty() && open.empty()) return;
        if (alone.size() > 1 && threads > 1) {  // each thread takes some of them
            const unsigned used = std::min(threads, unsigned(alone.size()));
            parallel(used, [&](unsigned t) {
                for (std::size_t j = t; j < alone.size(); j += used)
                    for (Index done = 0; !alone[j]->done() && done < kUntilPoll;) {
                        done += alone[j]->work();
                        walk({alone[j]}, common, 1);
                    }
            });
            poll();
            continue;
        }
        if (!alone.empty()) open = {alone.front()};
        Index work = 0;
        for (const Job* job : open) work += job->work();
        walk(open, common, work < 8'000'000 ? 1u : std::min(threads, unsigned(common.groups)));
        since += work;
        if (since > kUntilPoll) since = 0, poll();
    }
}

// Losses (n) of fits at all rows, or margins (n, c)
inline void predict(const Common& common, const Fit& fit, double* losses, double* margins, unsigned threads) {
    const Source& source = common.source;
    const Index w = Index(fit.columns.size()), c = common.target.c, R = source.R, blocks = source.blocks();
    std::vector<double> raw(fit.B.size()), constant(fit.b);
    for (Index a = 0; a < c; ++a)
        for (Index j = 0; j < w; ++j) {
            const std::size_t column = std::size_t(fit.columns[std::size_t(j)]);
            raw[std::size_t(a * w + j)] = fit.B[std::size_t(a * w + j)] / common.units.s[column];
            constant[std::size_t(a)] -= common.units.m[column] * raw[std::size_t(a * w + j)];
        }
    Operator op = make_operator(source, fit.columns, c, nullptr);
    std::visit(
        [&](auto& rows) {
            rows.set(raw.data());
            const unsigned used = rows.work() < 8'000'000 ? 1u : threads;
            parallel(used, [&](unsigned t) {
                std::vector<double> e(std::size_t(R * c));
                std::vector<float> sum(e.size());
                for (Index k = share(blocks, t, used); k < share(blocks, t + 1, used); ++k) {
                    const Index first = k * R, n = std::min(R, source.n - first);
                    for (Index a = 0; a < c; ++a)
                        std::fill(e.begin() + a * R, e.begin() + (a + 1) * R, constant[std::size_t(a)]);
                    std::fill(sum.begin(), sum.end(), 0.0f);
                    rows.forward(k, 0, rows.until(source.width), sum.data(), e.data());
                    if (losses)
                        common.target.value(first, n, R, nullptr, e.data(), nullptr, nullptr, losses + first);
                    if (margins)
                        for (Index i = 0; i < n; ++i)
                            for (Index a = 0; a < c; ++a)
                                margins[(first + i) * c + a] = e[std::size_t(a * R + i)];
                }
            });
        },
        op);
}

}  // namespace streamsieve::sieve
