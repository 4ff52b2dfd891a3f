#include "workers/simulator/fields.hpp"

#include <cmath>
#include <utility>

#include "workers/simulator/request.hpp"

namespace hamtune {

using Json = nlohmann::json;

Fields::Fields(const Json& object, std::string path) : object_(object), path_(std::move(path)) {
  if (!object_.is_object()) throw InvalidRequest(path_ + ": must be an object");
}

std::string Fields::name(const std::string& key) const {
  return path_.empty() ? key : path_ + "." + key;
}

const Json& Fields::find(const std::string& key) {
  static const Json null;
  asked_.insert(key);
  const auto found = object_.find(key);
  return found == object_.end() ? null : *found;
}

const Json& Fields::get(const std::string& key) {
  const Json& value = find(key);
  if (value.is_null()) throw InvalidRequest(name(key) + ": is missing");
  return value;
}

double Fields::number(const std::string& key, bool zero_allowed) {
  return to_number(get(key), name(key), zero_allowed);
}

std::optional<double> Fields::optional_number(const std::string& key, bool zero_allowed) {
  const Json& value = find(key);
  if (value.is_null()) return std::nullopt;
  return to_number(value, name(key), zero_allowed);
}

std::uint64_t Fields::whole(const std::string& key, std::uint64_t most) {
  return to_whole(get(key), name(key), most);
}

const Json& Fields::list(const std::string& key) {
  const Json& value = get(key);
  if (!value.is_array()) throw InvalidRequest(name(key) + ": must be a list");
  return value;
}

void Fields::refuse_others() const {
  for (const auto& [key, value] : object_.items())
    if (asked_.count(key) == 0) throw InvalidRequest(name(key) + ": unknown field");
}

double Fields::to_number(const Json& value, const std::string& field, bool zero_allowed) {
  const double number = value.is_number() ? value.get<double>() : std::nan("");
  if (!std::isfinite(number) || number < 0 || (number == 0 && !zero_allowed))
    throw InvalidRequest(field + ": must be a number " + (zero_allowed ? "from 0" : "above 0"));
  return number;
}

std::uint64_t Fields::to_whole(const Json& value, const std::string& field, std::uint64_t most) {
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > most)
    throw InvalidRequest(field + ": must be a whole number up to " + std::to_string(most));
  return value.get<std::uint64_t>();
}

}  // namespace hamtune
