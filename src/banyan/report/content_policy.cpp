#include "banyan/report/content_policy.hpp"

#include <fmt/core.h>

#include <bit>

namespace banyan::report {
namespace {

constexpr std::array<u32, 64> kRounds = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

using State = std::array<u32, 8>;

/// Section 6.2.2: one block of 64 bytes.
void absorb(State& state, const unsigned char* block) {
  std::array<u32, 64> w{};
  for (std::size_t t = 0; t < 16; ++t) {
    const unsigned char* word = block + 4 * t;
    w[t] = u32{word[0]} << 24U | u32{word[1]} << 16U | u32{word[2]} << 8U | u32{word[3]};
  }
  for (std::size_t t = 16; t < 64; ++t) {
    const u32 low = std::rotr(w[t - 15], 7) ^ std::rotr(w[t - 15], 18) ^ w[t - 15] >> 3U;
    const u32 high = std::rotr(w[t - 2], 17) ^ std::rotr(w[t - 2], 19) ^ w[t - 2] >> 10U;
    w[t] = w[t - 16] + low + w[t - 7] + high;
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (std::size_t t = 0; t < 64; ++t) {
    const u32 choice = (e & f) ^ (~e & g);
    const u32 one = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + choice + kRounds[t] + w[t];
    const u32 majority = (a & b) ^ (a & c) ^ (b & c);
    const u32 two = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + majority;
    h = g;
    g = f;
    f = e;
    e = d + one;
    d = c;
    c = b;
    b = a;
    a = one + two;
  }
  const State change{a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < state.size(); ++i) state[i] += change[i];
}

/// "'sha256-...'", or "'none'" for nothing.
std::string source_of(std::string_view text) {
  if (text.empty()) return "'none'";
  const auto digest = sha256(text);
  return fmt::format("'sha256-{}'", base64({reinterpret_cast<const char*>(digest.data()), digest.size()}));
}

}  // namespace

std::array<unsigned char, 32> sha256(std::string_view bytes) {
  std::string padded(bytes);
  padded += '\x80';
  padded.append((120 - padded.size() % 64) % 64, '\0');
  const u64 bits = u64{bytes.size()} * 8;
  for (u32 i = 0; i < 8; ++i) padded += static_cast<char>(bits >> (56 - 8 * i) & 0xFFU);
  State state{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  const auto* data = reinterpret_cast<const unsigned char*>(padded.data());
  for (std::size_t at = 0; at < padded.size(); at += 64) absorb(state, data + at);
  std::array<unsigned char, 32> digest{};
  for (std::size_t i = 0; i < digest.size(); ++i) {
    digest[i] = static_cast<unsigned char>(state[i / 4] >> (24 - 8 * (i % 4)) & 0xFFU);
  }
  return digest;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    u32 three = 0;
    for (std::size_t i = at; i < at + 3; ++i) {
      three = three << 8U | (i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0U);
    }
    for (u32 i = 0; i < 4; ++i) {
      const bool present = at + i <= bytes.size();
      text += present ? kLetters[three >> (18 - 6 * i) & 0x3FU] : '=';
    }
  }
  return text;
}

std::string content_policy(std::string_view style, std::string_view script) {
  return fmt::format("default-src 'none'; style-src {}; script-src {}; base-uri 'none'; form-action 'none'",
                     source_of(style), source_of(script));
}

}  // namespace banyan::report
