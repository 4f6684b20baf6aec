// What B-ARDA and B-AMD share ([Zhai] section 4): each feature has a step of its own, eta / H,
// H = delta + s, s_j the norm of the gradients of feature j over rows and outputs.
#pragma once
#include "core/fields.hpp"

namespace streamsieve {

struct AdaptiveRule {
    double eta, alpha, delta;
    bool operator==(const AdaptiveRule&) const = default;
};

inline AdaptiveRule read_adaptive(Fields& rule) {
    return {rule.number("eta"), rule.number("alpha"), rule.number("delta")};
}

// The intercept is one more feature, always 1, neither penalised nor counted.
struct AdaptiveBias {
    bool fit;
    double* value;     // (q)
    double* gradient;  // (1 + q), as the state of a feature
};

inline AdaptiveBias read_bias(Fields& rule, Fields& state) {
    return {rule.flag("fit_intercept"), state.vector<double>("bias").data(),
            state.vector<double>("bias_gradient").data()};
}

}  // namespace streamsieve
