#include "searchspace/kernels/trace/trace_writer.hpp"

#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

namespace hamtune {

namespace {

constexpr std::size_t kHeld = std::size_t{16} << 20U;
constexpr int kLevel = 6;

/// Two hashes of 64 bits, so that blocks of equal hashes are equal.
void mix(std::pair<std::uint64_t, std::uint64_t>& hash, std::uint64_t word) {
  hash.first = (hash.first ^ word) * 0x9E3779B97F4A7C15U;
  hash.first ^= hash.first >> 29U;
  hash.second = (hash.second ^ (word * 0xD6E8FEB86659FD93U)) * 0xBF58476D1CE4E5B9U;
  hash.second ^= hash.second >> 31U;
}

void mix(std::pair<std::uint64_t, std::uint64_t>& hash, const void* bytes, std::size_t size) {
  const auto* from = static_cast<const std::uint8_t*>(bytes);
  std::uint64_t word = 0;
  for (; size >= sizeof word; size -= sizeof word, from += sizeof word) {
    std::memcpy(&word, from, sizeof word);
    mix(hash, word);
  }
  word = size;
  for (; size > 0; --size) word = word << 8U | *from++;
  mix(hash, word);
}

[[noreturn]] void fail(const char* what) {
  throw std::runtime_error(std::string("cannot write the trace: ") + what + ": " +
                           std::strerror(errno));
}

}  // namespace

struct BlockFile::Stream {
  z_stream z{};
  Stream() {
    if (deflateInit(&z, kLevel) != Z_OK) throw std::bad_alloc();
  }
  ~Stream() { deflateEnd(&z); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
};

BlockFile::BlockFile(int descriptor) : file_(fdopen(dup(descriptor), "wb"), &std::fclose) {
  if (!file_) fail("no file");
}

BlockFile::~BlockFile() = default;

void BlockFile::begin() {
  held_.clear();
  size_ = compressed_ = 0;
  hash_ = {};
  stream_.reset();
  start_ = std::ftell(file_.get());
}

void BlockFile::append(const void* bytes, std::size_t size) {
  const auto* from = static_cast<const std::uint8_t*>(bytes);
  size_ += size;
  while (size > 0) {
    const std::size_t part = std::min(size, kHeld - held_.size());
    held_.insert(held_.end(), from, from + part);
    from += part;
    size -= part;
    if (held_.size() == kHeld) release(false);
  }
}

/// Compresses what was held back, which ends where it always does, so that equal blocks have one hash.
void BlockFile::release(bool last) {
  if (!last) mix(hash_, held_.data(), held_.size());
  if (!stream_) stream_ = std::make_unique<Stream>();
  deflate(held_.data(), held_.size(), last);
  held_.clear();
}

std::size_t BlockFile::end(std::uint64_t operations) {
  mix(hash_, held_.data(), held_.size());
  const auto [known, is_new] = known_.try_emplace({hash_, size_}, blocks.size());
  if (is_new) {
    release(true);
    blocks.push_back({compressed_, size_, operations, 0});
  } else if (stream_ && std::fseek(file_.get(), start_, SEEK_SET) != 0) {
    fail("seek");  // the next block takes the place of this one
  }
  if (std::fflush(file_.get()) != 0) fail("flush");
  ++blocks[known->second].ranks;
  return known->second;
}

void BlockFile::deflate(const void* bytes, std::size_t size, bool last) {
  std::array<std::uint8_t, 1U << 16U> out;
  z_stream& z = stream_->z;
  z.next_in = const_cast<Bytef*>(static_cast<const Bytef*>(bytes));
  z.avail_in = static_cast<uInt>(size);
  do {
    z.next_out = out.data();
    z.avail_out = out.size();
    ::deflate(&z, last ? Z_FINISH : Z_NO_FLUSH);
    const std::size_t made = out.size() - z.avail_out;
    if (std::fwrite(out.data(), 1, made, file_.get()) != made) fail("write");
    compressed_ += made;
  } while (z.avail_out == 0);
}

void TraceWriter::feed(const std::uint8_t* bytes, std::size_t size) {
  if (!taking_) {
    taking_ = std::make_unique<TakingApart>();
    calls_.begin();
    flops_.begin();
  }
  taking_->feed(bytes, size);
  store();
}

void TraceWriter::end_rank() {
  feed(nullptr, 0);
  taking_->finish();
  store();
  const RankParts& parts = taking_->parts;
  append_varint(calls_.end(parts.operations), table_);
  append_varint(flops_.block_bytes() == 0 ? 0 : flops_.end() + 1, table_);
  append_varint(parts.parties.size(), table_);
  for (const std::int32_t party : parts.parties) append_signed(party - ranks_, table_);
  ++ranks_;
  taking_.reset();
}

/// Moves what has come of the rank to the files.
void TraceWriter::store() {
  Bytes& calls = taking_->parts.calls;
  std::vector<double>& flops = taking_->parts.flops;
  calls_.append(calls.data(), calls.size());
  flops_.append(flops.data(), flops.size() * sizeof(double));
  calls.clear();
  flops.clear();
}

}  // namespace hamtune
