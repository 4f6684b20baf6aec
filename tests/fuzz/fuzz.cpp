// Mutated svmlight and CSV text through the parsers, under the address and undefined-behaviour sanitizers.
//
//     fuzz INPUTS [SEED]
//
// Each input is parsed whole and, where a line ends a row for certain, cut in two at a random line, with the
// output arrays laid out to the byte as Python does; both must agree in rows, values and the first refusal.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>

#include "text/csv.hpp"
#include "text/svmlight.hpp"

using namespace streamsieve;

namespace {

const char* const SVMLIGHT[] = {
    "1 1:2 3:4.5\n-1 2:1e-5 7:-0.25 # comment\n",
    "+1 qid:3 1:0.1234567890123456 2147483646:1e308\r\n0 5:.5 6:5. 9:1E+2\n",
    "# only a comment\n\n   \n3.5 10:nan 11:inf 12:-Infinity 13:NA\n",
    "1,2 1:1\n1 0:1\n1 2:2 1:1\n1 3:1 3:2\n1 99999999999:1\n",
    "0.30000000000000004 1:179769313486231580793728971405301e276 2:4.9e-324 3:00000000000000000001\n",
};
const char* const CSV[] = {
    "1,2,red,4\n0.5,-1e3,\"blue\",7\r\n",
    "\"1.5\", 2 ,\"a \"\"b\"\"\nc\",NaN\n,NA,,null\n",
    "1,2,3\n1,2,3,4,5\n\n\"open,2,3,4\n9,8,7,6\n",
    "123456789012345678901234567890,1e999,1e-999,.\n+1,-.5,5.e1,1e\n",
    "\"1,234.5\",$5,10%,-\n\"1.234,5\",\"1 000\",€ 3,n/a\n",
};
const char* const WORDS[] = {"nan",
                             "inf",
                             ":",
                             ",",
                             "\"",
                             "\"\"",
                             "\n",
                             "\r\n",
                             "\r",
                             "1e",
                             "-",
                             "+",
                             "e-",
                             "2147483648",
                             "0.",
                             ".",
                             "#",
                             "qid:",
                             "\t",
                             " ",
                             "1:1",
                             "99999999999999999999",
                             "0000000000000000000000000",
                             "1e-400",
                             "1e400",
                             "\0x"};

using Random = std::mt19937_64;

std::size_t below(Random& random, std::size_t n) {
    return n ? std::size_t(random() % n) : 0;
}

std::string mutated(std::string text, const std::string& other, Random& random) {
    for (std::size_t rounds = 1 + below(random, 6); rounds > 0; --rounds) {
        const std::size_t at = below(random, text.size() + 1), length = below(random, 9);
        switch (below(random, 7)) {
            case 0:
                if (at < text.size()) text[at] = char(random());
                break;
            case 1:
                text.erase(at, length);
                break;
            case 2:
                text.insert(at, text.substr(below(random, text.size() + 1), length));
                break;
            case 3:
                text.insert(at, WORDS[below(random, std::size(WORDS))]);
                break;
            case 4:
                text.resize(at);
                break;
            case 5:
                text.insert(at, other.substr(below(random, other.size() + 1), 4 * length));
                break;
            default:
                if (at < text.size()) text[at] = char(text[at] ^ char(1u << below(random, 8)));
        }
    }
    return text;
}

// A copy that ends with a newline and exactly the padding: the sanitizer sees each byte read beyond.
struct Padded {
    explicit Padded(std::string text) {
        if (text.empty() || text.back() != '\n') text += '\n';
        n = text.size();
        bytes = std::make_unique<char[]>(n + PADDING);
        std::memcpy(bytes.get(), text.data(), n);
    }
    const char* begin() const { return bytes.get(); }
    const char* end() const { return bytes.get() + n; }
    std::unique_ptr<char[]> bytes;
    std::size_t n;
};

void require(bool well, const char* what, const Padded& text) {
    if (well) return;
    std::fprintf(stderr, "%s differs for %zu bytes:\n%.*s\n", what, text.n, int(text.n), text.begin());
    std::exit(1);
}

bool same(const std::vector<double>& a, const std::vector<double>& b, Index n) {
    return n == 0 || !std::memcmp(a.data(), b.data(), std::size_t(n) * sizeof(double));
}

struct SvmlightResult {
    Outcome outcome;
    std::vector<double> y, data;
    std::vector<std::int32_t> ends, indices;
};

// Appends what a text holds, as Python joins what came of its chunks.
void parse(const char* begin, const char* end, const SvmlightRules& rules, SvmlightResult& r) {
    if (r.outcome.fault != Fault::none) return;
    const std::size_t rows = std::size_t(occurrences(begin, end, '\n')),
                      entries = std::size_t(occurrences(begin, end, ':'));
    std::vector<double> y(rows), data(entries);
    std::vector<std::int32_t> ends(rows), indices(entries);
    Outcome o = svmlight(begin, end, rules, {y.data(), ends.data(), indices.data(), data.data()});
    for (Index i = 0; i < o.rows; ++i)
        r.ends.push_back(ends[std::size_t(i)] + std::int32_t(r.outcome.entries));
    r.y.insert(r.y.end(), y.begin(), y.begin() + o.rows);
    r.data.insert(r.data.end(), data.begin(), data.begin() + o.entries);
    r.indices.insert(r.indices.end(), indices.begin(), indices.begin() + o.entries);
    o.rows += r.outcome.rows, o.entries += r.outcome.entries, o.bad += r.outcome.bad;
    r.outcome = o;
}

// Where a line ends, at random.
const char* some_line(const Padded& text, Random& random) {
    return after_line(text.begin() + below(random, text.n), text.end());
}

void check_svmlight(const Padded& text, Random& random) {
    const SvmlightRules rules{Index(below(random, 2)), below(random, 2) ? Index(2147483647) : Index(8),
                              Missing(below(random, 3)), below(random, 2) == 1};
    SvmlightResult a, b;
    parse(text.begin(), text.end(), rules, a);
    const char* const middle = some_line(text, random);
    parse(text.begin(), middle, rules, b);
    parse(middle, text.end(), rules, b);
    require(a.outcome.rows == b.outcome.rows && a.outcome.entries == b.outcome.entries &&
                a.outcome.at == b.outcome.at && a.outcome.fault == b.outcome.fault &&
                a.outcome.bad == b.outcome.bad,
            "svmlight outcome", text);
    require(same(a.y, b.y, a.outcome.rows) && same(a.data, b.data, a.outcome.entries), "svmlight", text);
    require(std::equal(a.ends.begin(), a.ends.begin() + a.outcome.rows, b.ends.begin()), "ends", text);
    require(std::equal(a.indices.begin(), a.indices.begin() + a.outcome.entries, b.indices.begin()),
            "indices", text);
    Index last = -1, row = 0;
    for (Index e = 0; e < a.outcome.entries; ++e) {
        for (; row < a.outcome.rows && a.ends[std::size_t(row)] <= e; ++row) last = -1;
        require(a.indices[std::size_t(e)] > last && a.indices[std::size_t(e)] < rules.width, "order", text);
        last = a.indices[std::size_t(e)];
    }
}

struct CsvResult {
    CsvOutcome outcome;
    std::vector<double> X, others;
    std::vector<std::string> values;
    std::vector<std::int64_t> odd;  // words among the numbers of each column
};

void parse(const char* begin, const char* end, const CsvRules& rules, CsvResult& r) {
    if (r.outcome.fault != Fault::none) return;
    const Index most = std::min(occurrences(begin, end, '\n'), (end - begin) / rules.columns + 1);
    const std::size_t rows = std::size_t(most);
    std::vector<double> X(rows * std::size_t(rules.features)), others(rows * std::size_t(rules.others));
    std::vector<std::int32_t> codes(rows * std::size_t(rules.texts));
    std::vector<Codes> met(std::size_t(rules.texts));
    std::vector<OddCells> odd(std::size_t(rules.columns));
    CsvOutcome o = csv(begin, end, rules, {X.data(), others.data(), codes.data()}, met, odd.data());
    r.odd.resize(odd.size());
    for (std::size_t c = 0; c < odd.size(); ++c) r.odd[c] += odd[c].count;
    r.X.insert(r.X.end(), X.begin(), X.begin() + o.rows * rules.features);
    r.others.insert(r.others.end(), others.begin(), others.begin() + o.rows * rules.others);
    for (Index i = 0; i < o.rows * rules.texts; ++i) {
        const std::int32_t code = codes[std::size_t(i)];
        const auto& values = met[std::size_t(i % rules.texts)].values();
        r.values.push_back(code < 0 ? "missing" : "is " + std::string(values.at(std::size_t(code)).text()));
    }
    o.rows += r.outcome.rows, o.bad += r.outcome.bad, o.left_out += r.outcome.left_out;
    r.outcome = o;
}

void check_csv(const Padded& text, Random& random) {
    const std::int32_t roles[] = {0, 1, ~0, 2}, many[] = {~1, 0, IGNORED, 1, ~0};
    std::uint8_t gaps[5], styles[5];
    for (std::uint8_t& gap : gaps) gap = std::uint8_t(below(random, 3));
    for (std::uint8_t& style : styles) style = std::uint8_t(below(random, 2) ? 0 : below(random, 3));
    const double fills[] = {0, -1.5, 2, 1e300, 3};
    const bool skip = below(random, 2) == 1;
    const CsvRules rules = below(random, 4) ? CsvRules{',', roles, 4, 2, 1, 1, gaps, styles, fills, 2, skip}
                                            : CsvRules{',', many, 5, 1, 1, 2, gaps, styles, fills, -1, skip};
    CsvResult a, b;
    parse(text.begin(), text.end(), rules, a);
    const bool quoted = std::memchr(text.begin(), '"', text.n) != nullptr;
    const char* const middle = quoted ? text.begin() : some_line(text, random);
    parse(text.begin(), middle, rules, b);
    parse(middle, text.end(), rules, b);
    require(a.outcome.rows == b.outcome.rows && a.outcome.at == b.outcome.at &&
                a.outcome.fault == b.outcome.fault && a.outcome.bad == b.outcome.bad &&
                a.outcome.left_out == b.outcome.left_out && a.odd == b.odd,
            "csv outcome", text);
    require(same(a.X, b.X, a.outcome.rows * rules.features), "csv numbers", text);
    require(same(a.others, b.others, a.outcome.rows * rules.others), "csv targets", text);
    require(a.values == b.values, "csv values", text);
    CellCounts counts[4] = {};
    csv_texts(text.begin(), text.end(), ',', 4, 100, counts);
    for (const CellCounts& of : counts)
        require(of.numbers >= 0 && of.texts >= 0 && of.first_text < std::int64_t(text.n), "csv kinds", text);
    whole_rows(text.begin(), text.begin() + below(random, text.n + 1), ',');
}

// The fast paths against from_chars, which is correctly rounded.
void check_number(const Padded& text) {
    double fast = 0, slow = 0;
    const char* const p = text.begin();
    const char* const end = number(p, fast);
    double plain = 0;
    if (plain_number(p, Index(text.n) - 1, plain))
        require(end == text.end() - 1 && !std::memcmp(&plain, &fast, sizeof fast), "plain number", text);
    if (!end || *p == '+') return;
    const auto [stop, error] = std::from_chars(p, end, slow);
    if (error == std::errc::result_out_of_range) {
        require(fast == 0 || std::isinf(fast), "number out of range", text);
        return;
    }
    require(stop == end && !std::memcmp(&fast, &slow, sizeof fast), "number", text);
}

// Up to 19 digits or more, with exponents about where the fast paths end, and anywhere.
std::string some_number(Random& random) {
    std::string s = below(random, 2) ? "-" : "";
    for (std::size_t n = below(random, 20); n > 0; --n) s += char('0' + below(random, 10));
    if (below(random, 3)) s += '.';
    for (std::size_t n = below(random, 22); n > 0; --n) s += char('0' + below(random, 10));
    const std::size_t range = below(random, 2) ? 60 : 700;
    if (below(random, 3)) s += "e" + std::to_string(Index(below(random, range)) - Index(range / 2));
    return s;
}

}  // namespace

int main(int argc, char** argv) {
    const long inputs = argc > 1 ? std::atol(argv[1]) : 20000;
    Random random(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 0);
    for (long i = 0; i < inputs; ++i) {
        const std::string a = SVMLIGHT[below(random, std::size(SVMLIGHT))],
                          b = CSV[below(random, std::size(CSV))];
        switch (i % 5) {
            case 0:
                for (int k = 0; k < 20; ++k) check_number(Padded(some_number(random)));
                break;
            case 1:
            case 2:
                check_svmlight(Padded(mutated(a + SVMLIGHT[below(random, std::size(SVMLIGHT))], b, random)),
                               random);
                break;
            default:
                check_csv(Padded(mutated(b + CSV[below(random, std::size(CSV))], a, random)), random);
        }
    }
    std::printf("%ld inputs, no finding\n", inputs);
}
