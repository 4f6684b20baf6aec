// Losses of a margin m and a target y: labels are -1 and +1, targets of the squared loss any number. The same
// functions in NumPy: losses.py.
#pragma once
#include <cmath>
#include <cstring>

namespace streamsieve {

// Which loss is looked at once a row and output, not for every value: so it is no template parameter, which
// would compile every kernel four times.
struct Loss {
    enum class Kind { squared, logistic, hinge, squared_hinge };
    Kind kind = Kind::squared;

    // Bounds the second derivative in m (for the hinge, which has none, it is 1: the step that takes a row
    // just to its margin); a step below 1 / (curvature |x|^2) cannot overshoot.
    double curvature = 1;

    bool set(const char* name) {
        constexpr struct {
            const char* name;
            Loss loss;
        } known[] = {{"squared", {Kind::squared, 1}},
                     {"logistic", {Kind::logistic, 0.25}},
                     {"hinge", {Kind::hinge, 1}},
                     {"squared_hinge", {Kind::squared_hinge, 2}}};
        for (const auto& one : known)
            if (std::strcmp(name, one.name) == 0) return *this = one.loss, true;
        return false;
    }

    double value(double m, double y) const {
        const double z = y * m;
        switch (kind) {
            case Kind::squared:
                return 0.5 * (m - y) * (m - y);
            case Kind::logistic:
                return z > 0 ? std::log1p(std::exp(-z)) : std::log1p(std::exp(z)) - z;
            case Kind::hinge:
                return z < 1 ? 1 - z : 0;
            case Kind::squared_hinge:
                break;
        }
        return z < 1 ? (1 - z) * (1 - z) : 0;
    }

    // In m. y m >= 1 is asked this way round so that a NaN margin is passed on and found.
    double derivative(double m, double y) const {
        switch (kind) {
            case Kind::squared:
                return m - y;
            case Kind::logistic:
                return -y / (1 + std::exp(y * m));
            case Kind::hinge:
                return y * m >= 1 ? 0 : (m - m) - y;
            case Kind::squared_hinge:
                break;
        }
        return y * m >= 1 ? 0 : -2 * y * (1 - y * m);
    }

    // The second derivative where the first is d: a row that is classified well enough has none.
    double second_derivative(double d) const {
        switch (kind) {
            case Kind::squared:
                return 1;
            case Kind::logistic:
                return std::abs(d) * (1 - std::abs(d));
            case Kind::hinge:
                return d != 0;
            case Kind::squared_hinge:
                break;
        }
        return d != 0 ? 2 : 0;
    }
};

}  // namespace streamsieve
