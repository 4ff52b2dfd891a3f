// The body of the files distance_levels_*.cpp, which compile it for different instructions. It names
// nothing outside this unnamed namespace: an inline function of the standard library compiled here
// could end up in the rest of the program and would not run on every processor.

namespace {

using Word = std::uint64_t;
typedef Word Vector16 __attribute__((vector_size(16)));
typedef Word Vector32 __attribute__((vector_size(32)));

template <typename Vector>
inline Vector load(const std::uint8_t* at) {
  Vector vector;
  __builtin_memcpy(&vector, at, sizeof(Vector));
  return vector;
}

template <typename Vector>
inline void store(std::uint8_t* at, Vector vector) {
  __builtin_memcpy(at, &vector, sizeof(Vector));
}

inline Word count_bits(Word word) { return static_cast<Word>(__builtin_popcountll(word)); }
inline Word count_bits(Vector16 v) { return count_bits(v[0]) + count_bits(v[1]); }
inline Word count_bits(Vector32 v) {
  return (count_bits(v[0]) + count_bits(v[1])) + (count_bits(v[2]) + count_bits(v[3]));
}

/// Adds two vectors of bits to `sum`, a bit's place being its own column; returns the carries.
template <typename Vector>
inline Vector add(Vector& sum, Vector a, Vector b) {
  const Vector half = sum ^ a;
  const Vector carry = (sum & a) | (half & b);
  sum = half ^ b;
  return carry;
}

/// Counts bits by the tree of carry-save adders of Harley and Seal: one count for eight vectors.
template <typename Vector, unsigned Degree>
std::uint64_t level(const hamtune::LevelShape& shape, const std::uint8_t* __restrict from,
                    std::uint8_t* __restrict to, const std::uint32_t* __restrict pieces) {
  const unsigned degree = Degree != 0 ? Degree : shape.degree;
  const std::uint32_t rows = shape.rows;
  const std::uint32_t stride = shape.stride;
  const std::uint32_t copy = shape.copy;
  Word total = 0;
  // From the last vector to the first: what the last writes past the row's end is overwritten by the
  // beginning of the copy.
  for (std::uint32_t column = shape.vectors; column-- > 0;) {
    const std::uint8_t* const source = from + column * sizeof(Vector);
    std::uint8_t* const target = to + column * sizeof(Vector);
    const auto row = [&](std::uint32_t index) {
      const std::uint32_t* const piece = pieces + std::size_t{index} * degree;
      Vector reached = load<Vector>(source + piece[0]);
      for (unsigned k = 1; k < degree; ++k) reached |= load<Vector>(source + piece[k]);
      std::uint8_t* const at = target + std::size_t{index} * stride;
      store(at, reached);
      // The copy may begin inside the last vector, so it is written after it.
      if (copy != 0) store(at + copy, reached);
      return reached;
    };
    Vector mask = ~Vector{};
    if (column + 1 == shape.vectors) __builtin_memcpy(&mask, shape.last_mask, sizeof(Vector));

    Vector ones{}, twos{}, fours{};
    Word eights = 0, rest = 0;
    std::uint32_t index = 0;
    for (; index + 8 <= rows; index += 8) {
      const Vector r0 = row(index), r1 = row(index + 1);
      const Vector twos_a = add(ones, r0, r1);
      const Vector r2 = row(index + 2), r3 = row(index + 3);
      const Vector twos_b = add(ones, r2, r3);
      const Vector fours_a = add(twos, twos_a, twos_b);
      const Vector r4 = row(index + 4), r5 = row(index + 5);
      const Vector twos_c = add(ones, r4, r5);
      const Vector r6 = row(index + 6), r7 = row(index + 7);
      const Vector twos_d = add(ones, r6, r7);
      const Vector fours_b = add(twos, twos_c, twos_d);
      eights += count_bits(static_cast<Vector>(add(fours, fours_a, fours_b) & mask));
    }
    for (; index < rows; ++index) rest += count_bits(static_cast<Vector>(row(index) & mask));
    total += 8 * eights + 4 * count_bits(static_cast<Vector>(fours & mask)) +
             2 * count_bits(static_cast<Vector>(twos & mask)) +
             count_bits(static_cast<Vector>(ones & mask)) + rest;
  }
  return total;
}

template <typename Vector>
hamtune::LevelFunction level_for_degree(unsigned degree) {
  switch (degree) {
    case 2: return level<Vector, 2>;
    case 3: return level<Vector, 3>;
    case 4: return level<Vector, 4>;
    case 5: return level<Vector, 5>;
    case 6: return level<Vector, 6>;
    case 7: return level<Vector, 7>;
    case 8: return level<Vector, 8>;
    case 9: return level<Vector, 9>;
    case 10: return level<Vector, 10>;
    case 11: return level<Vector, 11>;
    case 12: return level<Vector, 12>;
    case 14: return level<Vector, 14>;
    case 16: return level<Vector, 16>;
    default: return level<Vector, 0>;
  }
}

hamtune::LevelFunction level_for_shape(const hamtune::LevelShape& shape) {
  switch (shape.vector) {
    case 8: return level_for_degree<Word>(shape.degree);
    case 16: return level_for_degree<Vector16>(shape.degree);
    default: return level_for_degree<Vector32>(shape.degree);
  }
}

}  // namespace
