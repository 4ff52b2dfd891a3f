// How messages between hosts become packets, where the network is simulated as queues of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace hamtune {

/// Seconds by the size of a message, linear between steps, as SMPI's options os, ois and or.
class Overhead {
 public:
  struct Step {
    double from = 0;  // bytes
    double seconds = 0;
    double seconds_per_byte = 0;
  };

  Overhead() = default;
  /// The steps by increasing size.
  explicit Overhead(std::vector<Step> steps) : steps_(std::move(steps)) {}

  bool is_nothing() const { return steps_.empty(); }

  /// Nothing below the first step.
  double operator()(double bytes) const {
    double seconds = 0;
    for (const Step& step : steps_) {
      if (bytes < step.from) break;
      seconds = step.seconds + step.seconds_per_byte * bytes;
    }
    return seconds;
  }

 private:
  std::vector<Step> steps_;
};

/// How large messages between two ranks cross each other.
enum class Exchange : std::uint8_t {
  full,     // both at once
  half,     // one direction at a time
  ordered,  // what one rank tells the other waits behind what it sends it: who was asked first goes first
};

/// The fields of a machine's `protocol`; sizes in bytes, times in s.
struct Protocol {
  bool cuts_through = false;  // a packet goes on as soon as its head is there, not when all of it is
  double mtu = 0;             // a packet, with headers
  double header = 0;          // of the mtu
  double framing = 0;         // around each packet
  double message_header = 0;
  double control_bytes = 0;            // payload of a message about a message
  std::optional<double> eager_limit;   // larger messages wait for their receiver; none: no message does
  std::optional<double> send_buffer;   // for each pair of ranks; none: without limit
  Exchange exchange = Exchange::full;
  double turns_above = 0;              // what takes turns where exchange is half
  double stagger = 0;                  // by which a rank is late at most after a message of several packets
  double trains = 0;                   // most that a message is cut into
  double turn = 0;                     // that a message sends before it is another one's turn
  std::optional<double> buffer;        // of each cable; none: without limit
  double burst = 0;                    // that an idle cable lets pass at once
  Overhead send_overhead;              // on the processor of the sender
  Overhead isend_overhead;
  Overhead receive_overhead;  // on that of the receiver
  double peer_overhead = 0;   // of the sender, at the first message to a rank
  std::size_t processors = 0;  // that spend all these times for all hosts; 0: each host has its own
};

/// Throws InvalidRequest.
Protocol parse_protocol(const nlohmann::json& json, const std::string& path);

}  // namespace hamtune
