// Trees of ranks along which real libraries send, by how they number them.
#pragma once

#include <vector>

namespace hamtune::collectives {

/// The place of one rank in a tree.
struct Place {
  int parent = -1;  // none of the root
  std::vector<int> children;  // in the order in which they are served
};

/// Says where a rank stands in a tree of `ranks` ranks below `root`.
using Tree = Place(int rank, int ranks, int root);

/// A rank's parent is the rank without its highest bit; the nearest children come first.
Place near_first_binomial(int rank, int ranks, int root);

/// Of radix 4: a rank's parent is the rank without its lowest digit that is not 0; the children that
/// are farthest away come first, and of those of one digit the one with the least.
Place knomial_of_four(int rank, int ranks, int root);

/// Level by level: the level below a level of n ranks has 2 n, and the two children of a rank are n apart.
Place binary(int rank, int ranks, int root);

/// All ranks in a row.
Place chain(int rank, int ranks, int root);

/// The root before four rows of neighbours; the first ones have one more where they cannot be equal.
Place four_chains(int rank, int ranks, int root);

}  // namespace hamtune::collectives
