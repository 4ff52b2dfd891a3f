// Random solvable groups by their multiplication tables. Plain C++17.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include "searchspace/kernels/graph/random.hpp"

namespace hamtune {

/// A group of the numbers below its order; 0 is the neutral element.
class SolvableGroup {
 public:
  using Element = std::uint16_t;
  static constexpr std::uint32_t kLargestOrder = 1024;

  /// Draws a group: beginning with the trivial one, a larger group N.p is built of N for each prime
  /// factor p of the order, in random order. Every solvable group can come out.
  SolvableGroup(std::uint32_t order, Random& random) {
    if (order == 0 || order > kLargestOrder)
      throw std::invalid_argument("a group of this order cannot be drawn");
    std::vector<std::uint32_t> primes;
    for (std::uint32_t prime = 2, rest = order; rest > 1; ++prime)
      for (; rest % prime == 0; rest /= prime) primes.push_back(prime);
    for (std::size_t left = primes.size(); left > 1; --left)
      std::swap(primes[left - 1], primes[random.below(static_cast<std::uint32_t>(left))]);
    for (const std::uint32_t prime : primes) extend(prime, random);
  }

  std::uint32_t order() const { return order_; }
  Element product(std::size_t a, std::size_t b) const { return products_[b * order_ + a]; }
  /// The products of all elements, in their order, with one on the right.
  const Element* times(std::size_t b) const { return products_.data() + b * order_; }
  Element inverse(std::size_t a) const { return inverses_[a]; }

  std::uint32_t order_of(Element element) const {
    std::uint32_t power = 1;
    for (Element now = element; now != 0; now = product(now, element)) ++power;
    return power;
  }

  /// A power of an element whose order is the least prime factor of the element's.
  Element prime_power(Element element) const {
    const std::uint32_t order = order_of(element);
    std::uint32_t prime = 2;
    while (prime < order && order % prime != 0) ++prime;
    Element power = element;
    for (std::uint32_t factor = 1; factor < order / prime; ++factor) power = product(power, element);
    return power;
  }

  /// A generator of one cyclic subgroup of each class of conjugate ones, without the trivial one.
  std::vector<Element> cyclic_subgroups() const {
    std::vector<Element> found;
    std::vector<bool> known(order_, false);
    for (std::uint32_t next = 1; next < order_; ++next) {
      if (known[next]) continue;
      const auto element = static_cast<Element>(next);
      found.push_back(element);
      const std::uint32_t order = order_of(element);
      Element power = element;
      for (std::uint32_t exponent = 1; exponent < order; ++exponent) {
        if (std::gcd(exponent, order) == 1)
          for (std::uint32_t by = 0; by < order_; ++by)
            known[product(product(by, power), inverse(by))] = true;
        power = product(power, element);
      }
    }
    return found;
  }

 private:
  using Map = std::vector<Element>;

  static constexpr unsigned kTries = 100;        // of images, for an automorphism
  static constexpr unsigned kMostPowers = 64;    // of an automorphism, until one is inner
  static constexpr unsigned kIdentityEvery = 8;  // extension

  Element any(Random& random) const { return static_cast<Element>(random.below(order_)); }

  Map identity() const {
    Map map(order_);
    std::iota(map.begin(), map.end(), Element{0});
    return map;
  }

  static Map power(const Map& map, std::uint32_t exponent) {
    Map result(map.size());
    std::iota(result.begin(), result.end(), Element{0});
    for (std::uint32_t factor = 0; factor < exponent; ++factor)
      for (Element& element : result) element = map[element];
    return result;
  }

  /// Random elements, each outside of what those before it generate, until they generate all.
  std::vector<Element> generators(Random& random) const {
    std::vector<Element> chosen;
    std::vector<bool> known(order_, false);
    std::vector<Element> reached{0};
    known[0] = true;
    while (reached.size() < order_) {
      Element next = any(random);
      while (known[next]) next = any(random);
      chosen.push_back(next);
      std::fill(known.begin(), known.end(), false);
      known[0] = true;
      reached.assign(1, 0);
      for (std::size_t at = 0; at < reached.size(); ++at)
        for (const Element generator : chosen) {
          const Element product_here = product(reached[at], generator);
          if (known[product_here]) continue;
          known[product_here] = true;
          reached.push_back(product_here);
        }
    }
    return chosen;
  }

  /// The homomorphism that maps the generators so, if it is one to one; else an empty map.
  Map automorphism(const std::vector<Element>& from, const std::vector<Element>& to) const {
    Map image(order_, 0);
    std::vector<bool> known(order_, false);
    std::vector<bool> taken(order_, false);
    std::vector<Element> reached{0};
    known[0] = taken[0] = true;
    for (std::size_t at = 0; at < reached.size(); ++at)
      for (std::size_t k = 0; k < from.size(); ++k) {
        const Element source = product(reached[at], from[k]);
        const Element target = product(image[reached[at]], to[k]);
        if (known[source]) {
          if (image[source] != target) return {};
          continue;
        }
        if (taken[target]) return {};
        known[source] = taken[target] = true;
        image[source] = target;
        reached.push_back(source);
      }
    return image;
  }

  Map any_automorphism(Random& random) const {
    if (random.below(kIdentityEvery) == 0) return identity();
    std::vector<std::vector<Element>> of_order(order_ + 1);
    for (std::uint32_t element = 0; element < order_; ++element)
      of_order[order_of(static_cast<Element>(element))].push_back(static_cast<Element>(element));
    const std::vector<Element> from = generators(random);
    std::vector<Element> to(from.size());
    for (unsigned tried = 0; tried < kTries; ++tried) {
      for (std::size_t k = 0; k < from.size(); ++k) {
        const std::vector<Element>& alike = of_order[order_of(from[k])];
        to[k] = alike[random.below(static_cast<std::uint32_t>(alike.size()))];
      }
      Map map = automorphism(from, to);
      if (!map.empty()) return map;
    }
    return identity();
  }

  /// The elements g with g x = map(x) g for all x: some if and only if the map is inner.
  std::vector<Element> conjugators(const Map& map) const {
    std::vector<Element> found;
    for (std::uint32_t g = 0; g < order_; ++g) {
      std::uint32_t x = 0;
      while (x < order_ && product(g, x) == product(map[x], g)) ++x;
      if (x == order_) found.push_back(static_cast<Element>(g));
    }
    return found;
  }

  /// An automorphism whose power with this exponent is conjugation by an element that it fixes, and
  /// that element.
  std::pair<Map, Element> twist(std::uint32_t prime, Random& random) const {
    const Map drawn = any_automorphism(random);
    Map now = drawn;
    std::uint32_t exponent = 1;  // the least of a power that is inner
    while (exponent < kMostPowers && conjugators(now).empty()) {
      for (Element& element : now) element = drawn[element];
      ++exponent;
    }
    for (Map map : {exponent % prime == 0 ? power(drawn, exponent / prime) : identity(),
                    identity()}) {
      std::vector<Element> fixed = conjugators(power(map, prime));
      fixed.erase(std::remove_if(fixed.begin(), fixed.end(),
                                 [&map](Element element) { return map[element] != element; }),
                  fixed.end());
      if (fixed.empty()) continue;
      const Element carry = fixed[random.below(static_cast<std::uint32_t>(fixed.size()))];
      return {std::move(map), carry};
    }
    return {identity(), 0};
  }

  /// Makes this the group of x t^i, x in the group so far and i < prime, with t x = map(x) t and
  /// t^prime = carry (Schreier's cyclic extension). x t^i is number i * order + x.
  void extend(std::uint32_t prime, Random& random) {
    const auto [map, carry] = twist(prime, random);
    const std::uint32_t larger = order_ * prime;
    std::vector<Element> products(std::size_t{larger} * larger);
    for (std::uint32_t i = 0; i < prime; ++i) {
      const Map turned = power(map, i);
      for (std::uint32_t j = 0; j < prime; ++j) {
        const bool around = i + j >= prime;
        const std::uint32_t first = (i + j - (around ? prime : 0)) * order_;
        for (std::uint32_t y = 0; y < order_; ++y) {
          const Element* const right = times(turned[y]);
          Element* const column =
              products.data() + std::size_t{j * order_ + y} * larger + std::size_t{i} * order_;
          for (std::uint32_t x = 0; x < order_; ++x)
            column[x] = static_cast<Element>(first + (around ? product(right[x], carry) : right[x]));
        }
      }
    }
    products_ = std::move(products);
    order_ = larger;
    inverses_.assign(order_, 0);
    for (std::size_t element = 0; element < order_; ++element)
      inverses_[element] = static_cast<Element>(
          std::find(times(element), times(element) + order_, Element{0}) - times(element));
  }

  std::uint32_t order_ = 1;
  std::vector<Element> products_{0};  // by the right factor, then by the left one
  std::vector<Element> inverses_{0};
};

}  // namespace hamtune
