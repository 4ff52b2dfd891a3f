#include "workers/simulator/collectives/trees.hpp"

namespace hamtune::collectives {

namespace {

/// Builds the place of a rank from the numbers that ranks have when the root is 0.
class Numbered {
 public:
  Numbered(int rank, int ranks, int root)
      : number_((rank - root + ranks) % ranks), ranks_(ranks), root_(root) {}

  int number() const { return number_; }
  int ranks() const { return ranks_; }

  void set_parent(int number) { place_.parent = (number + root_) % ranks_; }

  void add_child(int number) {
    if (number < ranks_) place_.children.push_back((number + root_) % ranks_);
  }

  Place place() const { return place_; }

 private:
  int number_;
  int ranks_;
  int root_;
  Place place_;
};

Place chains(int rank, int ranks, int root, int most) {
  Numbered tree(rank, ranks, root);
  const int below = ranks - 1;
  const int count = below < most ? below : most;
  if (count == 0) return tree.place();
  const int shorter = below / count;
  const int longer_ones = below % count;
  const auto first_of = [&](int row) {
    return 1 + row * shorter + (row < longer_ones ? row : longer_ones);
  };
  if (tree.number() == 0) {
    for (int row = 0; row < count; ++row) tree.add_child(first_of(row));
    return tree.place();
  }
  int row = 0;
  while (row + 1 < count && first_of(row + 1) <= tree.number()) ++row;
  const bool is_first = tree.number() == first_of(row);
  tree.set_parent(is_first ? 0 : tree.number() - 1);
  if (tree.number() + 1 < first_of(row + 1)) tree.add_child(tree.number() + 1);
  return tree.place();
}

}  // namespace

Place near_first_binomial(int rank, int ranks, int root) {
  Numbered tree(rank, ranks, root);
  int bit = 1;
  while (bit <= tree.number()) bit *= 2;
  if (tree.number() > 0) tree.set_parent(tree.number() - bit / 2);
  for (; bit < ranks; bit *= 2) tree.add_child(tree.number() + bit);
  return tree.place();
}

Place knomial_of_four(int rank, int ranks, int root) {
  constexpr int kRadix = 4;
  Numbered tree(rank, ranks, root);
  int unit = 1;
  while (unit < ranks && tree.number() % (unit * kRadix) == 0) unit *= kRadix;
  if (unit < ranks) tree.set_parent(tree.number() - tree.number() % (unit * kRadix));
  for (unit /= kRadix; unit > 0; unit /= kRadix)
    for (int digit = 1; digit < kRadix; ++digit) tree.add_child(tree.number() + digit * unit);
  return tree.place();
}

Place binary(int rank, int ranks, int root) {
  Numbered tree(rank, ranks, root);
  int begin = 0;  // of the level of this rank
  int width = 1;
  while (tree.number() >= begin + width) {
    begin += width;
    width *= 2;
  }
  if (tree.number() > 0) {
    const int above = width / 2;
    tree.set_parent(begin - above + (tree.number() - begin) % above);
  }
  tree.add_child(tree.number() + width);
  tree.add_child(tree.number() + 2 * width);
  return tree.place();
}

Place chain(int rank, int ranks, int root) { return chains(rank, ranks, root, 1); }

Place four_chains(int rank, int ranks, int root) { return chains(rank, ranks, root, 4); }

}  // namespace hamtune::collectives
