// Trees of ranks: every rank but the root has one parent, which has it as a child.
#include "workers/simulator/collectives/trees.hpp"

#include <algorithm>

#include "tests/native.hpp"

namespace hamtune::collectives {
namespace {

TEST_CASE("in every tree parents and children agree, and all ranks hang below the root") {
  for (Tree* const tree : {near_first_binomial, knomial_of_four, binary, chain, four_chains})
    for (int ranks = 1; ranks <= 40; ++ranks)
      for (int root = 0; root < ranks; root += 1 + ranks / 4) {
        CAPTURE(ranks);
        CAPTURE(root);
        std::vector<int> reached{root};
        REQUIRE(tree(root, ranks, root).parent == -1);
        for (std::size_t at = 0; at < reached.size(); ++at)
          for (const int child : tree(reached[at], ranks, root).children) {
            REQUIRE(tree(child, ranks, root).parent == reached[at]);
            reached.push_back(child);
          }
        std::sort(reached.begin(), reached.end());
        REQUIRE(reached.size() == static_cast<std::size_t>(ranks));
        for (int rank = 0; rank < ranks; ++rank) REQUIRE(reached[static_cast<std::size_t>(rank)] == rank);
      }
}

TEST_CASE("children come in the order in which they are served") {
  using Ranks = std::vector<int>;
  CHECK(near_first_binomial(0, 8, 0).children == Ranks{1, 2, 4});
  CHECK(near_first_binomial(1, 8, 0).children == Ranks{3, 5});
  CHECK(near_first_binomial(2, 8, 2).children == Ranks{3, 4, 6});
  CHECK(knomial_of_four(0, 16, 0).children == Ranks{4, 8, 12, 1, 2, 3});
  CHECK(knomial_of_four(13, 16, 0).parent == 12);
  CHECK(binary(0, 7, 0).children == Ranks{1, 2});
  CHECK(binary(1, 7, 0).children == Ranks{3, 5});
  CHECK(chain(3, 5, 0).children == Ranks{4});
  CHECK(four_chains(0, 8, 0).children == Ranks{1, 3, 5, 7});  // rows of 2, 2, 2 and 1
  CHECK(four_chains(0, 3, 0).children == Ranks{1, 2});
}

}  // namespace
}  // namespace hamtune::collectives
