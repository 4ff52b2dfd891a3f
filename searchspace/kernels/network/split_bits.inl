// The body of the files split_bits_*.cpp, which compile it for different instructions. It names
// nothing outside this unnamed namespace but plain structures: an inline function of the standard
// library compiled here could end up in the rest of the program and would not run everywhere.

namespace {

using Word = std::uint64_t;
using hamtune::kCountDigits;
using hamtune::SplitBits;
typedef Word Vector16 __attribute__((vector_size(16)));
typedef Word Vector32 __attribute__((vector_size(32)));
typedef Word Vector64 __attribute__((vector_size(64)));

/// Adds two vectors of bits to `sum`, each column by itself; returns the carries.
template <typename Vector>
inline Vector add(Vector& sum, Vector a, Vector b) {
  const Vector half = sum ^ a;
  const Vector carry = (sum & a) | (half & b);
  sum = half ^ b;
  return carry;
}

template <typename Vector>
inline Vector add(Vector& sum, Vector a) {
  const Vector carry = sum & a;
  sum ^= a;
  return carry;
}

constexpr unsigned digits_of(unsigned number) {
  return number == 0 ? 0 : 1 + digits_of(number / 2);
}

/// Counts bits column by column in binary digits: of each value a carry waits for a second one, and
/// both are added at once. Which ones wait is told by the binary digits of how many bits came.
template <typename Vector, unsigned Digits>
class ColumnCount {
 public:
  inline void clear(unsigned digits) {
#pragma GCC unroll 8
    for (unsigned value = 0; value < digits; ++value) digit_[value] = Vector{};
  }

  inline void put(Vector bits, unsigned before) {
    unsigned value = 0;
    for (; (before >> value & 1U) != 0; ++value) bits = add(digit_[value], waiting_[value], bits);
    waiting_[value] = bits;
  }

  /// Adds what still waits, after `all` bits.
  inline void settle(unsigned all, unsigned digits) {
    Vector carry{};
#pragma GCC unroll 8
    for (unsigned value = 0; value < digits; ++value)
      carry = (all >> value & 1U) != 0 ? add(digit_[value], waiting_[value], carry)
                                       : add(digit_[value], carry);
  }

  /// The columns that have counted at least so many.
  inline Vector reached(std::uint32_t least, unsigned digits) const {
    Vector enough = ~Vector{};
#pragma GCC unroll 8
    for (unsigned value = 0; value < digits; ++value) {
      const Vector wanted = Vector{} - static_cast<Word>(least >> value & 1U);
      enough = (digit_[value] & enough) | ((digit_[value] | enough) & ~wanted);
    }
    return enough;
  }

  inline Vector digit(unsigned value) const { return digit_[value]; }

 private:
  Vector digit_[Digits];
  Vector waiting_[Digits];
};

/// The bits of a part of all splits, a vector of them.
template <typename Vector>
inline Vector part_of(const SplitBits& bits, unsigned part) {
  Vector vector;
  __builtin_memcpy(&vector, reinterpret_cast<const std::uint8_t*>(&bits) + part * sizeof(Vector),
                   sizeof(Vector));
  return vector;
}

template <typename Vector>
inline void set_part(SplitBits& bits, unsigned part, Vector vector) {
  __builtin_memcpy(reinterpret_cast<std::uint8_t*>(&bits) + part * sizeof(Vector), &vector,
                   sizeof(Vector));
}

/// Degree 0: any degrees.
template <typename Vector, unsigned Degree>
void exchange(const hamtune::SplitNetwork& network, SplitBits* sides,
              const hamtune::Exchange* begin, const hamtune::Exchange* end) {
  constexpr unsigned parts = sizeof(SplitBits) / sizeof(Vector);
  constexpr unsigned digits = Degree == 0 ? kCountDigits : digits_of(2 * Degree);
  const auto ends = [&network](std::uint32_t node) {
    return static_cast<unsigned>(network.first[node + 1] - network.first[node]);
  };
  for (unsigned part = 0; part < parts; ++part)
    for (const hamtune::Exchange* one = begin; one != end; ++one) {
      const Vector side_u = part_of<Vector>(sides[one->u], part);
      const Vector side_v = part_of<Vector>(sides[one->v], part);
      ColumnCount<Vector, digits> cut;
      Vector moved;
      if constexpr (Degree != 0) {
        cut.clear(digits);
        const std::uint32_t* const of_u = network.target + std::size_t{one->u} * Degree;
        const std::uint32_t* const of_v = network.target + std::size_t{one->v} * Degree;
#pragma GCC unroll 32
        for (unsigned k = 0; k < Degree; ++k) {
          cut.put(part_of<Vector>(sides[of_u[k]], part) ^ side_u, 2 * k);
          cut.put(part_of<Vector>(sides[of_v[k]], part) ^ side_v, 2 * k + 1);
        }
        cut.settle(2 * Degree, digits);
        moved = cut.reached(one->needed, digits) & (side_u ^ side_v);
      } else {
        const bool alone = one->u == one->v;
        unsigned all = ends(one->u) + (alone ? 0 : ends(one->v));
        const unsigned used = digits_of(all > one->needed ? all : one->needed);
        cut.clear(used);
        all = 0;
        for (std::size_t at = network.first[one->u]; at < network.first[one->u + 1]; ++at)
          cut.put(part_of<Vector>(sides[network.target[at]], part) ^ side_u, all++);
        if (!alone)
          for (std::size_t at = network.first[one->v]; at < network.first[one->v + 1]; ++at)
            cut.put(part_of<Vector>(sides[network.target[at]], part) ^ side_v, all++);
        cut.settle(all, used);
        moved = cut.reached(one->needed, used);
        if (!alone) moved &= side_u ^ side_v;
      }
      set_part<Vector>(sides[one->u], part, side_u ^ moved);
      if (one->u != one->v) set_part<Vector>(sides[one->v], part, side_v ^ moved);
    }
}

template <typename Vector>
void count(const hamtune::SplitNetwork& network, const SplitBits* sides, SplitBits* digits) {
  constexpr unsigned parts = sizeof(SplitBits) / sizeof(Vector);
  for (unsigned part = 0; part < parts; ++part) {
    ColumnCount<Vector, kCountDigits> cut;
    cut.clear(kCountDigits);
    unsigned all = 0;
    for (std::uint32_t node = 0; node < network.nodes; ++node) {
      const Vector side = part_of<Vector>(sides[node], part);
      for (std::size_t at = network.first[node]; at < network.first[node + 1]; ++at)
        if (network.target[at] > node)
          cut.put(part_of<Vector>(sides[network.target[at]], part) ^ side, all++);
    }
    cut.settle(all, kCountDigits);
    for (unsigned value = 0; value < kCountDigits; ++value)
      set_part<Vector>(digits[value], part, cut.digit(value));
  }
}

template <typename Vector>
hamtune::SplitFunctions splits_for_degree(const hamtune::SplitNetwork& network) {
  const auto functions = [](auto exchanging) {
    return hamtune::SplitFunctions{exchanging, count<Vector>};
  };
  switch (network.degree) {
    case 3: return functions(exchange<Vector, 3>);
    case 4: return functions(exchange<Vector, 4>);
    case 5: return functions(exchange<Vector, 5>);
    case 6: return functions(exchange<Vector, 6>);
    case 7: return functions(exchange<Vector, 7>);
    case 8: return functions(exchange<Vector, 8>);
    case 9: return functions(exchange<Vector, 9>);
    case 10: return functions(exchange<Vector, 10>);
    case 11: return functions(exchange<Vector, 11>);
    case 12: return functions(exchange<Vector, 12>);
    case 14: return functions(exchange<Vector, 14>);
    case 16: return functions(exchange<Vector, 16>);
    default: return functions(exchange<Vector, 0>);
  }
}

}  // namespace
