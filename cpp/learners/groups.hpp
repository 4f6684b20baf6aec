// What competes for the budget of B-ARDA and B-AMD: features, or groups of them, by the mean of their scores.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/fields.hpp"

namespace streamsieve {

struct EachAlone {
    static constexpr bool grouped = false;
    Index count;  // of what competes

    Index of(Index j) const { return j; }
    template <class F>
    double mean(Index g, F&& score) const {
        return score(g);
    }
};

class Groups {
  public:
    static constexpr bool grouped = true;
    Index count = 0;

    // The number of the group of each feature, as Python gives them: 0 to count - 1, each at least once.
    explicit Groups(std::span<const std::int32_t> label) : label_(label.data()), member_(label.size()) {
        for (const std::int32_t g : label) count = std::max(count, Index(g) + 1);
        start_.assign(std::size_t(count) + 1, 0);
        for (const std::int32_t g : label) ++start_[std::size_t(g) + 1];
        for (std::size_t g = 1; g < start_.size(); ++g) start_[g] += start_[g - 1];
        std::vector<std::int32_t> next(start_.begin(), start_.end() - 1);
        for (std::size_t j = 0; j < label.size(); ++j)
            member_[std::size_t(next[std::size_t(label[j])]++)] = std::int32_t(j);
    }

    Index of(Index j) const { return label_[j]; }
    // The features of group g, ascending.
    std::span<const std::int32_t> members(Index g) const {
        const auto from = std::size_t(start_[std::size_t(g)]), to = std::size_t(start_[std::size_t(g) + 1]);
        return {member_.data() + from, to - from};
    }
    template <class F>
    double mean(Index g, F&& score) const {
        double sum = 0;
        for (const std::int32_t j : members(g)) sum += score(Index(j));
        return sum / double(members(g).size());
    }

  private:
    const std::int32_t* label_;
    std::vector<std::int32_t> start_, member_;
};

// f with the groups of the rule's "group", or, where that is None, with p features that compete alone.
template <class F>
auto with_groups(Fields& rule, Index p, F&& f) {
    if (!rule.has("group")) return f(EachAlone{p});
    const auto label = rule.vector<std::int32_t>("group");
    if (Index(label.size()) != p) throw nb::value_error("group: the kernel expects one for each feature");
    return f(Groups(label));
}

}  // namespace streamsieve
