// How much a test tries: with sanitizers, which make everything ten to twenty times slower and look for what one try
// shows as well as many, a part of it.
#pragma once

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define BANYAN_SANITIZED 1
#endif
#endif

namespace banyan::test {

#ifdef BANYAN_SANITIZED
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

/// `all` tries, or `few` with sanitizers.
template <typename T>
[[nodiscard]] constexpr T tries(T all, T few) {
  return kSanitized ? few : all;
}

}  // namespace banyan::test
