// Which of two features comes first, the same everywhere: the one with the higher score, of equal scores the
// one with the lower index.
#pragma once
#include <bit>
#include <cstdint>

namespace streamsieve {

template <class Feature>
constexpr bool ranks_before(double score, Feature j, double other_score, Feature other_j) {
    return score > other_score || (score == other_score && j < other_j);
}

// A score (not negative) as it is compared: `bits` of its mantissa. Features that are met for the first time
// in one row have the same score, computed from different values; what rounding tells apart must be a tie.
template <int bits>
inline double rounded(double score) {
    constexpr std::uint64_t lost = std::uint64_t(1) << (52 - bits);
    return std::bit_cast<double>((std::bit_cast<std::uint64_t>(score) + lost / 2) & ~(lost - 1));
}

}  // namespace streamsieve
