// How messages between hosts become packets, where the network is simulated as queues of them.
#pragma once

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
  bool takes_turns = false;            // large messages between two ranks go one direction at a time
  double turns_above = 0;              // what is large
  double trains = 0;                   // most that a message is cut into
  std::optional<double> buffer;        // of each cable; none: without limit
  double burst = 0;                    // that an idle cable lets pass at once
  Overhead send_overhead;              // on the processor of the sender
  Overhead isend_overhead;
  Overhead receive_overhead;  // on that of the receiver
  double peer_overhead = 0;   // of the sender, at the first message to a rank
};

/// Throws InvalidRequest.
Protocol parse_protocol(const nlohmann::json& json, const std::string& path);

}  // namespace hamtune
