// The fields of one JSON object of a request.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>

namespace hamtune {

/// Hands out the fields of an object, and refuses those that nobody asked for. Every method throws
/// InvalidRequest, whose message names the field. The object must outlive it.
class Fields {
 public:
  Fields(const nlohmann::json& object, std::string path);

  std::string name(const std::string& key) const;

  /// Null where the field is missing.
  const nlohmann::json& find(const std::string& key);
  const nlohmann::json& get(const std::string& key);
  double number(const std::string& key, bool zero_allowed);
  std::optional<double> optional_number(const std::string& key, bool zero_allowed = false);
  std::uint64_t whole(const std::string& key, std::uint64_t most);
  const nlohmann::json& list(const std::string& key);
  void refuse_others() const;

  static double to_number(const nlohmann::json& value, const std::string& field, bool zero_allowed);
  static std::uint64_t to_whole(const nlohmann::json& value, const std::string& field,
                                std::uint64_t most);

 private:
  const nlohmann::json& object_;
  std::string path_;
  std::set<std::string> asked_;
};

}  // namespace hamtune
