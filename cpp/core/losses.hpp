// Losses of a margin m and a target y: labels are -1 and +1, counts whole numbers, other targets any number.
// The same functions in NumPy: core/losses.py.
//
// A loss is a struct with its name and `at`, and a word in `AnyLoss`. Kernels call a `Loss`, which is one of
// them: which one is looked at once a row and output, not for every value, so that it is no template
// parameter of theirs, which would compile every kernel as often as there are losses.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include <variant>

namespace streamsieve {

// Loss at a margin, its derivative there, and a second derivative: that of the loss or, where it has corners,
// of a parabola that touches the loss at m and is nowhere below it.
struct LossPoint {
    double value, derivative, bend;
};

// What structs of losses have in common.
struct BaseLoss {
    // Bounds the second derivative, so that a step below 1 / (curvature |x|^2) cannot overshoot. 1 for losses
    // with a corner: of those a step of 1 / |x|^2 moves the margin by the slope.
    static constexpr double curvature = 1;
    // Whether targets have a unit, and the loss with them, unlike labels and counts.
    static constexpr bool has_units = false;
    // Reads parameters by name: get(name) is a double.
    template <class Get>
    void read(const Get&) {}
};

struct Squared : BaseLoss {
    static constexpr const char* name = "squared";
    static constexpr bool has_units = true;
    LossPoint at(double m, double y) const { return {0.5 * (m - y) * (m - y), m - y, 1}; }
};

struct Logistic : BaseLoss {
    static constexpr const char* name = "logistic";
    static constexpr double curvature = 0.25;
    LossPoint at(double m, double y) const {
        const double z = y * m, e = std::exp(z), d = -y / (1 + e), size = std::abs(d);
        return {z > 0 ? std::log1p(1 / e) : std::log1p(e) - z, d, size * (1 - size)};
    }
};

// Of both hinges y m >= 1 is asked this way round so that a NaN margin is passed on and found.
struct Hinge : BaseLoss {
    static constexpr const char* name = "hinge";
    LossPoint at(double m, double y) const {
        if (y * m >= 1) return {0, 0, 0};
        return {1 - y * m, (m - m) - y, 1};
    }
};

struct SquaredHinge : BaseLoss {
    static constexpr const char* name = "squared_hinge";
    static constexpr double curvature = 2;
    LossPoint at(double m, double y) const {
        if (y * m >= 1) return {0, 0, 0};
        const double short_of = 1 - y * m;
        return {short_of * short_of, -2 * y * short_of, 2};
    }
};

struct Huber : BaseLoss {
    static constexpr const char* name = "huber";
    static constexpr bool has_units = true;
    double threshold = 0;
    template <class Get>
    void read(const Get& get) {
        threshold = get("threshold");
    }
    LossPoint at(double m, double y) const {
        const double r = m - y, size = std::abs(r);
        if (!(size > threshold)) return {0.5 * r * r, r, 1};
        return {threshold * (size - 0.5 * threshold), std::copysign(threshold, r), threshold / size};
    }
};

// The smoothing is a parabola within `width` of the corner.
struct Quantile : BaseLoss {
    static constexpr const char* name = "quantile";
    static constexpr bool has_units = true;
    double quantile = 0, width = 0;
    template <class Get>
    void read(const Get& get) {
        quantile = get("quantile"), width = get("width");
    }
    LossPoint at(double m, double y) const {
        const double r = m - y, size = std::abs(r), tilt = 0.5 - quantile;
        if (!(size > width)) return {0.25 * r * r / width + tilt * r, 0.5 * r / width + tilt, 0.5 / width};
        return {0.5 * size - 0.25 * width + tilt * r, std::copysign(0.5, r) + tilt, 0.5 / size};
    }
};

struct Poisson : BaseLoss {
    static constexpr const char* name = "poisson";
    static constexpr double curvature = std::numeric_limits<double>::infinity();
    LossPoint at(double m, double y) const {
        const double mean = std::exp(std::min(m, 50.0));
        return {mean - y * m, mean - y, mean};
    }
};

using AnyLoss = std::variant<Squared, Logistic, Hinge, SquaredHinge, Huber, Quantile, Poisson>;

class Loss {
  public:
    double curvature = 1;
    bool has_units = true;

    // Becomes the loss of that name, with its parameters; false if there is none.
    template <class Get>
    bool set(const char* name, const Get& get) {
        return set(name, get, std::make_index_sequence<std::variant_size_v<AnyLoss>>());
    }
    // f(the struct)
    template <class F>
    decltype(auto) visit(F&& f) const {
        return std::visit(std::forward<F>(f), one_);
    }
    LossPoint at(double m, double y) const {
        return visit([&](const auto& loss) { return loss.at(m, y); });
    }
    // One of the three: what is not asked for, a logarithm for instance, is not computed.
    double value(double m, double y) const {
        return visit([&](const auto& loss) { return loss.at(m, y).value; });
    }
    double derivative(double m, double y) const {
        return visit([&](const auto& loss) { return loss.at(m, y).derivative; });
    }
    double bend(double m, double y) const {
        return visit([&](const auto& loss) { return loss.at(m, y).bend; });
    }

  private:
    template <class Get, std::size_t... i>
    bool set(const char* name, const Get& get, std::index_sequence<i...>) {
        return (set_if<std::variant_alternative_t<i, AnyLoss>>(name, get) || ...);
    }
    template <class One, class Get>
    bool set_if(const char* name, const Get& get) {
        if (std::strcmp(name, One::name) != 0) return false;
        One loss;
        loss.read(get);
        one_ = loss, curvature = One::curvature, has_units = One::has_units;
        return true;
    }
    AnyLoss one_;
};

}  // namespace streamsieve
