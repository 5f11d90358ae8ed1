#include "banyan/base/printable.hpp"

#include <fmt/core.h>

#include "banyan/base/types.hpp"

namespace banyan {
namespace {

/// One character of UTF-8, or one byte that is none.
struct Character {
  u32 code = 0;
  std::size_t bytes = 1;
  bool valid = false;
};

Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<u32>(static_cast<u8>(text[i])) : 0U; };
  const u32 lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4) return {lead, 1, false};
  u32 code = lead & (0x7fU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) return {lead, 1, false};
    code = code << 6U | (byte(i) & 0x3fU);
  }
  // Longer than needed, a half of a surrogate pair, or beyond the last character.
  const u32 least = bytes == 2 ? 0x80 : bytes == 3 ? 0x800 : 0x10000;
  if (code < least || (code >= 0xd800 && code < 0xe000) || code > 0x10ffff) return {lead, 1, false};
  return {code, bytes, true};
}

bool is_control(u32 code) { return code < 0x20 || (code >= 0x7f && code < 0xa0); }

/// Unicode Standard Annex 9, table 1: what embeds, overrides, isolates or marks a direction.
bool turns_direction(u32 code) {
  return code == 0x061c || code == 0x200e || code == 0x200f || (code >= 0x202a && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069);
}

}  // namespace

std::optional<TextFault> text_fault(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const Character c = first_character(text.substr(at));
    if (!c.valid) return TextFault{at, fmt::format("the byte 0x{:02x}, which is no UTF-8", c.code)};
    if (is_control(c.code)) return TextFault{at, fmt::format("the control character U+{:04X}", c.code)};
    if (turns_direction(c.code)) {
      return TextFault{at, fmt::format("the mark U+{:04X}, which turns the direction of the text", c.code)};
    }
    at += c.bytes;
  }
  return std::nullopt;
}

std::string with_faults_shown(std::string_view text) {
  std::string shown;
  for (std::size_t at = 0; at < text.size();) {
    const Character c = first_character(text.substr(at));
    if (!c.valid || (is_control(c.code) && c.code != '\n')) {
      shown += fmt::format("\\x{:02x}", c.code);
    } else if (turns_direction(c.code)) {
      shown += fmt::format("\\u{{{:x}}}", c.code);
    } else {
      shown += text.substr(at, c.bytes);
    }
    at += c.bytes;
  }
  return shown;
}

std::string without_controls(std::string_view text) {
  std::string shown;
  for (std::size_t at = 0; at < text.size();) {
    const Character c = first_character(text.substr(at));
    const bool fault = !c.valid || is_control(c.code) || turns_direction(c.code);
    shown += fault ? std::string_view("?") : text.substr(at, c.bytes);
    at += c.bytes;
  }
  return shown;
}

}  // namespace banyan
