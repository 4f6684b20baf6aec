// Losses of a margin m and a target y: labels are -1 and +1, targets of Squared any number. The same
// functions in NumPy: losses.py. `curvature` bounds the second derivative in m (for the hinge, which has
// none, it is 1: the step that takes a row just to its margin); a step below 1 / (curvature |x|^2) cannot
// overshoot.
#pragma once
#include <cmath>

namespace streamsieve {

struct Squared {
    static constexpr const char* name = "squared";
    static constexpr double curvature = 1;
    static double value(double m, double y) { return 0.5 * (m - y) * (m - y); }
    static double derivative(double m, double y) { return m - y; }
};

struct Logistic {
    static constexpr const char* name = "logistic";
    static constexpr double curvature = 0.25;
    static double value(double m, double y) {
        const double z = y * m;
        return z > 0 ? std::log1p(std::exp(-z)) : std::log1p(std::exp(z)) - z;
    }
    static double derivative(double m, double y) { return -y / (1 + std::exp(y * m)); }
};

struct Hinge {
    static constexpr const char* name = "hinge";
    static constexpr double curvature = 1;
    static double value(double m, double y) { return y * m < 1 ? 1 - y * m : 0; }
    // y m >= 1 is asked this way round so that a NaN margin is passed on and found
    static double derivative(double m, double y) { return y * m >= 1 ? 0 : (m - m) - y; }
};

struct SquaredHinge {
    static constexpr const char* name = "squared_hinge";
    static constexpr double curvature = 2;
    static double value(double m, double y) {
        const double z = y * m < 1 ? 1 - y * m : 0;
        return z * z;
    }
    static double derivative(double m, double y) { return y * m >= 1 ? 0 : -2 * y * (1 - y * m); }
};

}  // namespace streamsieve
