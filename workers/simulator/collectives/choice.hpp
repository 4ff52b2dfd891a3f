// Which algorithm each collective runs by: one of SMPI's, one of ours, or what a table says for each call.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace hamtune::collectives {

/// Names and values of SMPI's options, such as smpi/bcast: binomial_tree.
using Options = std::vector<std::pair<std::string, std::string>>;

/// The same options as far as SMPI can be told of them: where the choice is ours it has its default.
Options for_smpi(const Options& options);

/// Makes the choices that are ours. SMPI has to know its own before.
///
/// A table is written `rules:RANKS:BYTES=ALGORITHM,...;RANKS:...`, both in increasing order: a call takes the last
/// line of at most the communicator's ranks, and in it the last algorithm of at most the call's bytes. Two algorithms,
/// `ONE/OTHER`, are for even and for odd ranks. With `rules-of-all:` the blocks of all ranks count together. Behind a
/// `|` stand rows of the same form for reductions whose operation does not commute.
/// Throws std::logic_error where that cannot be read.
void choose(const Options& options);

}  // namespace hamtune::collectives
