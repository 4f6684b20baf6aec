// Decimal numbers, correctly rounded: each equals Python's float of the same text to the last bit.
//
// The text ends with a newline and has PADDING readable bytes after it, so that 64 bytes can be loaded
// anywhere and no scan needs to ask for the end: digits, words and cells all stop at the newline.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <system_error>
#include <tuple>

#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>
#endif

namespace streamsieve {

constexpr std::size_t PADDING = 64;

constexpr std::uint64_t POWERS[] = {1ull,
                                    10ull,
                                    100ull,
                                    1000ull,
                                    10000ull,
                                    100000ull,
                                    1000000ull,
                                    10000000ull,
                                    100000000ull,
                                    1000000000ull,
                                    10000000000ull,
                                    100000000000ull,
                                    1000000000000ull,
                                    10000000000000ull,
                                    100000000000000ull,
                                    1000000000000000ull,
                                    10000000000000000ull,
                                    100000000000000000ull,
                                    1000000000000000000ull,
                                    10000000000000000000ull};

constexpr double EXACT[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                            1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

inline std::uint64_t load8(const char* p) {
    std::uint64_t c;
    std::memcpy(&c, p, 8);
    if constexpr (std::endian::native == std::endian::big) {
        std::uint64_t r = 0;
        for (int i = 0; i < 8; ++i) r |= ((c >> (8 * i)) & 0xff) << (56 - 8 * i);
        return r;
    }
    return c;
}

// How many of the eight bytes, from the first, are digits: both b and b + 6 must be 0x3_. A carry can only
// come from a byte that is no digit, and bytes after the first such one do not count.
inline unsigned leading_digits(std::uint64_t c) {
    constexpr std::uint64_t high = 0xf0f0f0f0f0f0f0f0, threes = 0x3030303030303030;
    const std::uint64_t other = ((c & high) ^ threes) | (((c + 0x0606060606060606) & high) ^ threes);
    return unsigned(std::countr_zero(other)) >> 3;
}

// The number that the first n bytes (n <= 8) spell: neighbours are joined to pairs, fours and eight.
inline std::uint64_t eight_digits(std::uint64_t c, unsigned n) {
    c = (c - 0x3030303030303030) << (32 - 4 * n) << (32 - 4 * n);  // by 64 at once is not defined
    c = c * 10 + (c >> 8);
    constexpr std::uint64_t pairs = 0x000000ff000000ff;
    return ((c & pairs) * 0x000f424000000064 + ((c >> 16) & pairs) * 0x0000271000000001) >> 32;
}

#if defined(__SSE2__) || defined(_M_X64)
// Bit i is set where `test` holds for byte i of the 16 at p.
template <class Test>
inline std::uint32_t bits16(const char* p, Test test) {
    return std::uint32_t(_mm_movemask_epi8(test(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)))));
}
inline std::uint32_t digits16(const char* p) {
    return bits16(p, [](__m128i c) {
        const __m128i over = _mm_sub_epi8(c, _mm_set1_epi8('0'));
        return _mm_cmpeq_epi8(_mm_min_epu8(over, _mm_set1_epi8(9)), over);
    });
}
template <class... Char>
inline std::uint32_t equal16(const char* p, Char... any) {
    return bits16(p, [=](__m128i c) {
        __m128i found = _mm_setzero_si128();
        ((found = _mm_or_si128(found, _mm_cmpeq_epi8(c, _mm_set1_epi8(any)))), ...);
        return found;
    });
}
#else
inline std::uint32_t digits16(const char* p) {
    std::uint32_t found = 0;
    for (int i = 0; i < 16; ++i) found |= std::uint32_t(p[i] >= '0' && p[i] <= '9') << i;
    return found;
}
template <class... Char>
inline std::uint32_t equal16(const char* p, Char... any) {
    std::uint32_t found = 0;
    for (int i = 0; i < 16; ++i) found |= std::uint32_t(((p[i] == any) || ...)) << i;
    return found;
}
#endif

// Bit i is set where byte i of the 32 at p is a digit.
inline std::uint32_t digit_bits(const char* p) {
    return digits16(p) | digits16(p + 16) << 16;
}

// Finds marks, such as separators, one after the other: 64 bytes are compared at once, and the place of the
// next mark does not wait for what stands before it.
template <class... Char>
class Marks {
  public:
    explicit Marks(const char* p, Char... any) : any_(any...) { seek(p); }
    void seek(const char* p) {
        block_ = p;
        left_ = load();
    }
    const char* next() {
        while (!left_) {
            block_ += 64;
            left_ = load();
        }
        const char* const found = block_ + std::countr_zero(left_);
        left_ &= left_ - 1;
        return found;
    }

  private:
    std::uint64_t load() const {
        const auto at = [&](int i) {
            return std::apply([&](Char... c) { return std::uint64_t(equal16(block_ + 16 * i, c...)); }, any_);
        };
        return at(0) | at(1) << 16 | at(2) << 32 | at(3) << 48;
    }
    const char* block_;
    std::uint64_t left_;
    std::tuple<Char...> any_;
};

// Appends the digits at p to w (modulo 2^64) and returns where they end.
inline const char* digits(const char* p, std::uint64_t& w) {
    while (true) {
        const std::uint64_t c = load8(p);
        const unsigned n = leading_digits(c);
        if (n == 0) return p;
        w = w * POWERS[n] + eight_digits(c, n);
        p += n;
        if (n < 8) return p;
    }
}

#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 Wide;

// 2^127 / m for m = 10^q shifted to 64 bits.
constexpr auto RECIPROCALS = [] {
    std::array<std::uint64_t, 20> r{};
    for (unsigned q = 1; q < 20; ++q)
        r[q] = std::uint64_t((Wide(1) << 127) / (POWERS[q] << std::countl_zero(POWERS[q])));
    return r;
}();

// w / 10^q for w > 0 and 1 <= q <= 19. The quotient is taken to at least 62 bits, and what remains of it sets
// the last bit, far below the 53 that are kept: the one rounding is that of the conversion to double. The
// product with the reciprocal, which is cut off, is the quotient or one less.
inline double quotient(std::uint64_t w, unsigned q) {
    const int a = std::countl_zero(w), b = std::countl_zero(POWERS[q]);
    const std::uint64_t m = POWERS[q] << b;
    std::uint64_t whole = std::uint64_t((Wide(w << a) * RECIPROCALS[q]) >> 64);
    Wide rest = (Wide(w << a) << 63) - Wide(whole) * m;
    const bool more = rest >= m;
    whole += more;
    rest -= more ? m : 0;
    return double(whole | std::uint64_t(rest != 0)) *
           std::bit_cast<double>(std::uint64_t(1023 + b - a - 63) << 52);
}
#endif

// Reads the n bytes at p, [-] digits [. digits], into x; false for all other numbers, and for more than 8
// digits before the point or 19 in all, a single 0 before it not counted: `number` reads those. Where the
// number ends is known beforehand, so that the processor begins with the next before this one is done.
inline bool plain_number(const char* p, std::ptrdiff_t n, double& x) {
    if (n > 22) return false;  // a minus, 0 and a point, 19 digits
    const unsigned minus = *p == '-', size = unsigned(n);
    const std::uint32_t other = ~digit_bits(p) & ((1u << size) - 1) & ~minus;
    const unsigned point = other ? unsigned(std::countr_zero(other)) : size;
    const unsigned whole = point - minus, part = other ? size - 1 - point : 0;
    if (whole - 1 > 7 || (other & (other - 1)) || (other && p[point] != '.')) return false;
    if (whole + part > 19 && (whole > 1 || part > 19 || p[minus] != '0')) return false;
    const char* const end = p + size;
    std::uint64_t w = eight_digits(load8(p + minus), whole);
    if (part > 8) {  // in eights from the end, so that no branch depends on how many there are
        const unsigned middle = std::min(part - 8, 8u), first = part - 8 - middle;
        w = w * POWERS[first] + eight_digits(load8(end - part), first);
        w = w * POWERS[middle] + eight_digits(load8(end - 8 - middle), middle);
        w = w * POWERS[8] + eight_digits(load8(end - 8), 8);
    } else {
        w = w * POWERS[part] + eight_digits(load8(end - part), part);
    }
    if (part <= 8 && w <= (1ull << 53)) {
        x = double(w) / EXACT[part];
    } else {
#ifdef __SIZEOF_INT128__
        if (w == 0 || part == 0) return false;
        x = quotient(w, part);
#else
        return false;
#endif
    }
    x = std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) ^ (std::uint64_t(minus) << 63));
    return true;
}

// What the fast paths leave: more than 19 digits, large exponents. `begin` is after any sign.
inline const char* number_slowly(const char* begin, const char* end, double& x) {
    const auto [stop, error] = std::from_chars(begin, end, x);
    if (stop != end) return nullptr;
    if (error == std::errc::result_out_of_range) {  // too small is 0, as Python has it; too large infinite
        const char* p = begin;
        long long point = 0, zeros = 0, exponent = 0;
        while (*p == '0') ++p;
        for (const char* q = p; *q >= '0' && *q <= '9'; ++q) ++point;
        if (point == 0 && *p == '.')
            for (++p; *p == '0'; ++p) ++zeros;
        for (const char* e = p; e < end; ++e)
            if (*e == 'e' || *e == 'E') {
                const bool minus = e[1] == '-';
                for (e += e[1] == '-' || e[1] == '+' ? 2 : 1; e < end; ++e)
                    if (exponent < 1000000000000) exponent = exponent * 10 + (*e - '0');
                if (minus) exponent = -exponent;
            }
        x = point - zeros + exponent > 0 ? std::numeric_limits<double>::infinity() : 0.0;
    }
    return end;
}

// Reads [+-] digits [. digits] [e [+-] digits] at p into x; where it ends, or nullptr if no number is there.
// Infinite where the number is beyond double. Exact by: an integer below 2^53 and a power of ten up to 22 are
// doubles, and one product or quotient of doubles is rounded once (Clinger 1990).
inline const char* number(const char* p, double& x) {
    const bool minus = *p == '-';
    p += minus || *p == '+';
    const char* const first = p;
    std::uint64_t w = 0;
    p = digits(p, w);
    std::ptrdiff_t count = p - first;
    int exponent = 0;
    bool huge = false;
    if (*p == '.') {
        const char* const fraction = p + 1;
        p = digits(fraction, w);
        count += p - fraction;
        huge = p - fraction > 100000;
        exponent = huge ? 0 : -int(p - fraction);
    }
    if (count == 0) return nullptr;
    if ((*p | 0x20) == 'e') {
        const char* e = p + 1;
        const bool down = *e == '-';
        e += down || *e == '+';
        std::uint64_t power = 0;
        p = digits(e, power);
        if (p == e) return nullptr;
        huge = huge || p - e > 5;
        if (!huge) exponent += down ? -int(power) : int(power);
    }
    count -= *first == '0';
    if (count <= 19 && !huge && exponent >= -22 && exponent <= 22 && w <= (1ull << 53)) {
        x = exponent < 0 ? double(w) / EXACT[-exponent] : double(w) * EXACT[exponent];
#ifdef __SIZEOF_INT128__
    } else if (count <= 19 && !huge && exponent < 0 && exponent >= -19) {
        x = quotient(w, unsigned(-exponent));
#endif
    } else if (!(p = number_slowly(first, p, x))) {
        return nullptr;
    }
    x = minus ? -x : x;
    return p;
}

// Whether the text is one of the words, in either case.
template <std::size_t N>
inline bool is_one_of(const char* p, const char* end, const char* const (&words)[N]) {
    char low[8] = {};
    if (end - p > 7) return false;
    for (int i = 0; p + i < end; ++i) low[i] = p[i] >= 'A' && p[i] <= 'Z' ? char(p[i] + 32) : p[i];
    for (const char* word : words)
        if (!std::strcmp(low, word) && std::size_t(end - p) == std::strlen(word)) return true;
    return false;
}

// Words for a missing value, and what spreadsheets write where there is none.
inline bool is_missing(const char* p, const char* end) {
    static constexpr const char* words[] = {"",      "nan",    "na",    "n/a",     "null",
                                            "?",     "<na>",   "#n/a",  "#div/0!", "#value!",
                                            "#ref!", "#name?", "#num!", "#null!"};
    return is_one_of(p, end, words);
}

// Words that among numbers are a missing value, and among words a category.
inline bool stands_for_no_number(const char* p, const char* end) {
    static constexpr const char* words[] = {"-", "--", ".", "*", "none", "nil", "n.a.", "unknown", "missing"};
    return is_one_of(p, end, words);
}

// How numbers are written: 1234.5; 1.234,5 or 1234,5; $1,234.5 or 12 %.
enum class Style : std::uint8_t { plain, comma, grouped };

// Bytes at p of a character that may stand around a number, 0 for another one. Texts are UTF-8, or Windows'
// superset of latin-1, in which each of these is a single byte.
inline std::ptrdiff_t blank_length(const char* p, const char* end) {
    const auto byte = [&](std::ptrdiff_t i) { return i < end - p ? static_cast<unsigned char>(p[i]) : 0u; };
    if (byte(0) == ' ' || byte(0) == 0xa0) return 1;
    if (byte(0) == 0xc2) return byte(1) == 0xa0 ? 2 : 0;
    const bool thin =
        byte(0) == 0xe2 && byte(1) == 0x80 && ((byte(2) >= 0x80 && byte(2) <= 0x8a) || byte(2) == 0xaf);
    return thin ? 3 : 0;
}

// Blanks, per cent and signs of currencies: $, U+00A2 to U+00A5, U+20A0 to U+20CF, and Windows' euro.
inline std::ptrdiff_t unit_length(const char* p, const char* end) {
    const auto byte = [&](std::ptrdiff_t i) { return i < end - p ? static_cast<unsigned char>(p[i]) : 0u; };
    const auto latin = [](unsigned c) { return c >= 0xa2 && c <= 0xa5; };
    if (byte(0) == '$' || byte(0) == '%' || byte(0) == 0x80 || latin(byte(0))) return 1;
    if (byte(0) == 0xc2 && latin(byte(1))) return 2;
    const bool currency = byte(0) == 0xe2 && ((byte(1) == 0x82 && byte(2) >= 0xa0) ||
                                              (byte(1) == 0x83 && byte(2) >= 0x80 && byte(2) <= 0x8f));
    return currency ? 3 : blank_length(p, end);
}

// A minus as keyboards, typesetters (U+2212, U+2010 to U+2013) and Windows (en dash) have it.
inline std::ptrdiff_t minus_length(const char* p, const char* end) {
    const auto byte = [&](std::ptrdiff_t i) { return i < end - p ? static_cast<unsigned char>(p[i]) : 0u; };
    if (byte(0) == '-' || byte(0) == 0x96) return 1;
    const bool dash = byte(0) == 0xe2 && ((byte(1) == 0x88 && byte(2) == 0x92) ||
                                          (byte(1) == 0x80 && byte(2) >= 0x90 && byte(2) <= 0x93));
    return dash ? 3 : 0;
}

inline void trim_units(const char*& p, const char*& end) {
    while (const std::ptrdiff_t n = unit_length(p, end)) p += n;
    for (std::ptrdiff_t n = 3; n > 0;
         --n)  // the longest first: the last byte of one may be a sign of latin-1
        if (end - p >= n && unit_length(end - n, end) == n) end -= n, n = 4;
}

// Reads a number with groups of three digits, a currency sign, a per cent sign or brackets for a minus, as
// the style has them; whether all of the text is one. Groups may also be parted by blanks or apostrophes;
// 0,125 is no group.
inline bool written_number(const char* p, const char* end, Style style, double& x) {
    constexpr std::ptrdiff_t longest = 48;
    char plain[longest + 1 + PADDING] = {};
    const char point = style == Style::comma ? ',' : '.', other = style == Style::comma ? '.' : ',';
    char* out = plain;
    const auto read_sign = [&] {
        const std::ptrdiff_t n = minus_length(p, end);
        if (out != plain || (!n && (p == end || *p != '+'))) return;
        *out++ = n ? '-' : '+';
        p += n ? n : 1;
    };
    read_sign();
    trim_units(p, end);
    read_sign();
    if (out == plain && end - p > 2 && *p == '(' && end[-1] == ')') {  // as accountants write -5
        *out++ = '-', ++p, --end;
        trim_units(p, end);
    }
    if (end - p > longest - 1) return false;
    const char* const first = p;
    const char* between = p;  // what parts the groups, the same everywhere
    int run = 0, groups = 0;  // digits since the start or the last group; groups so far
    bool whole = true;        // before the point and the exponent
    while (p < end) {
        std::ptrdiff_t gap = *p == other || *p == '\'' || *p == '\x92' ? 1 : blank_length(p, end);
        if (!gap && end - p > 2 && !std::memcmp(p, "\xe2\x80\x99", 3)) gap = 3;  // an apostrophe
        if (*p >= '0' && *p <= '9') {
            *out++ = *p++, ++run;
        } else if (whole && *p == point) {
            if (groups && run != 3) return false;
            whole = false, *out++ = '.', ++p;
        } else if (whole && gap) {
            if (run == 0 || run > 3 || (groups && run != 3) || *first == '0') return false;
            if (groups && std::memcmp(p, between, std::size_t(gap))) return false;
            between = p, p += gap, ++groups, run = 0;
        } else if ((*p | 0x20) == 'e' && !groups && p > first) {
            whole = false;
            *out++ = *p++;
            if (p < end && (*p == '-' || *p == '+')) *out++ = *p++;
        } else {
            return false;
        }
    }
    if (whole && groups && run != 3) return false;
    *out = '\n';
    return number(plain, x) == out;
}

// How often a byte occurs. Counted in bytes of at most 255 rounds, which compilers turn into vectors.
inline std::ptrdiff_t occurrences(const char* p, const char* end, char what) {
    std::ptrdiff_t total = 0;
    while (p < end) {
        constexpr std::ptrdiff_t lanes = 64;
        std::uint8_t count[lanes] = {};
        std::ptrdiff_t rounds = std::min<std::ptrdiff_t>(255, (end - p) / lanes);
        if (rounds == 0) {
            for (; p < end; ++p) total += *p == what;
            break;
        }
        for (; rounds > 0; --rounds, p += lanes)
            for (std::ptrdiff_t i = 0; i < lanes; ++i) count[i] = std::uint8_t(count[i] + (p[i] == what));
        for (const std::uint8_t c : count) total += c;
    }
    return total;
}

}  // namespace streamsieve
