// One encoding of state: what a run must know to go on, written to bytes or read from them. A class has one member
// function `void archive(Archive& a)` that lists its state once, for both ways:
//
//   void archive(Archive& a) { a(cursors_, ready_, taken_); }
//
// What is made when a network is built, and never changes, is not listed: state is read into an object that was built
// in the same way. Plain data and arrays of it go as bytes of this machine, so that a reader needs the same build.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "banyan/base/types.hpp"

namespace banyan {

/// A component that keeps state and does not say what it is: a network with it cannot be written.
class NotArchived : public std::runtime_error {
 public:
  /// A seam of the simulator: "switch", "traffic", "admission".
  explicit NotArchived(const std::string& seam, u32 number = 0) : std::runtime_error(seam), number_(number) {}
  /// Which of several of the kind it is.
  [[nodiscard]] u32 number() const noexcept { return number_; }

 private:
  u32 number_;
};

/// What is read is not the state of an object that was built in this way.
class ArchiveMismatch : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Archive {
 public:
  virtual ~Archive() = default;
  Archive(const Archive&) = delete;
  Archive& operator=(const Archive&) = delete;

  /// Otherwise it writes.
  [[nodiscard]] bool reading() const noexcept { return reading_; }

  template <class... Members>
  void operator()(Members&... members) {
    (member(members), ...);
  }
  /// A number that the building of the object has fixed. Throws ArchiveMismatch when another one was written.
  void same(u64 value);
  /// `count` objects of plain data in a row.
  template <class T>
  void row(T* first, std::size_t count) {
    static_assert(kPlain<T>, "only plain data goes as bytes");
    clear_padding(first, count);
    block(first, count * sizeof(T));
  }

 protected:
  explicit Archive(bool reading) noexcept : reading_(reading) {}
  /// Writes these bytes, or reads as many to there.
  virtual void bytes(void* data, std::size_t size) = 0;

 private:
  /// Copied as bytes: no pointer, and nothing that holds one. (A struct of plain data with a pointer inside cannot be
  /// told from others here; the tests that go on from what was read in another process find it.)
  template <class T>
  static constexpr bool kPlain =
      std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> && !std::is_member_pointer_v<T> && !std::is_const_v<T>;

  template <class T>
  static constexpr bool kLists = requires(T& value, Archive& a) {
    value.archive(a);
  };

  /// Writing: what lies between the members of a struct becomes zero, so that equal states are equal bytes. What is
  /// zero already is not touched. (clang++ 14 cannot do it; its states are right, and their bytes may differ.)
  template <class T>
  void clear_padding(T* first, std::size_t count) {
#if defined(__GNUC__) && !defined(__clang__)
    if constexpr (std::is_class_v<T> && !std::has_unique_object_representations_v<T>) {
      for (std::size_t i = 0; !reading_ && i < count; ++i) {
        alignas(T) std::array<std::byte, sizeof(T)> cleared;
        std::memcpy(cleared.data(), first + i, sizeof(T));
        __builtin_clear_padding(reinterpret_cast<T*>(cleared.data()));
        if (std::memcmp(cleared.data(), first + i, sizeof(T)) != 0) __builtin_clear_padding(first + i);
      }
    }
#else
    static_cast<void>(first);
    static_cast<void>(count);
#endif
  }

  /// Does what bytes() does; pages of zeros in large arrays are counted, and not touched where they are zeros already.
  void block(void* data, std::size_t size);

  template <class T>
  void member(T& value) {
    if constexpr (kLists<T>) {
      value.archive(*this);
    } else {
      static_assert(kPlain<T>, "state that is no plain data needs a function archive()");
      clear_padding(&value, 1);
      bytes(&value, sizeof value);
    }
  }
  template <class T, std::size_t N>
  void member(std::span<T, N>&) = delete;  // NOLINT(modernize-use-equals-delete): as private as the others
  template <class T, class A>
  void member(std::vector<T, A>& values) {
    std::size_t size = values.size();
    member(size);
    if (reading_) values.resize(size);
    if constexpr (!kLists<T> && kPlain<T>) {
      clear_padding(values.data(), size);
      block(values.data(), size * sizeof(T));
    } else {
      for (T& value : values) member(value);
    }
  }
  void member(std::vector<bool>& values) {
    std::string bits(values.begin(), values.end());
    member(bits);
    if (reading_) values.assign(bits.begin(), bits.end());
  }
  template <class T, std::size_t N>
  void member(std::array<T, N>& values) {
    for (T& value : values) member(value);
  }
  void member(std::string& text) {
    std::size_t size = text.size();
    member(size);
    if (reading_) text.resize(size);
    bytes(text.data(), size);
  }
  template <class A, class B>
  void member(std::pair<A, B>& both) {
    member(both.first);
    member(both.second);
  }
  template <class... T>
  void member(std::tuple<T...>& all) {
    std::apply([this](T&... values) { (member(values), ...); }, all);
  }
  template <class T>
  void member(std::optional<T>& value) {
    bool is_there = value.has_value();
    member(is_there);
    if (reading_ && is_there != value.has_value()) {
      if (is_there) {
        value.emplace();
      } else {
        value.reset();
      }
    }
    if (is_there) member(*value);
  }
  template <class K, class V, class L>
  void member(std::map<K, V, L>& values) {
    entries<std::pair<K, V>>(values, [](const auto&) {});
  }
  template <class K, class L>
  void member(std::set<K, L>& values) {
    entries<K>(values, [](const auto&) {});
  }
  /// Goes in the order of keys, so that equal contents give equal bytes.
  template <class K, class V, class H>
  void member(std::unordered_map<K, V, H>& values) {
    entries<std::pair<K, V>>(values, [](auto& list) {
      std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    });
  }
  template <class Entry, class Container, class Sort>
  void entries(Container& values, Sort&& sort) {
    std::vector<Entry> list;
    if (!reading_) list.assign(values.begin(), values.end());
    sort(list);
    member(list);
    if (!reading_) return;
    values.clear();
    for (Entry& entry : list) values.insert(std::move(entry));
  }

  bool reading_;
};

/// Writes to a string.
class ArchiveToText final : public Archive {
 public:
  ArchiveToText() : Archive(false) {}
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  void bytes(void* data, std::size_t size) override { text_.append(static_cast<const char*>(data), size); }

  std::string text_;
};

/// Reads from a string that outlives it. Throws ArchiveMismatch behind its end.
class ArchiveOfText final : public Archive {
 public:
  /// `from`: bytes of the text that are left out.
  explicit ArchiveOfText(const std::string& text, std::size_t from = 0) : Archive(true), text_(text), at_(from) {}
  [[nodiscard]] bool ended() const noexcept { return at_ == text_.size(); }

 private:
  void bytes(void* data, std::size_t size) override;

  const std::string& text_;
  std::size_t at_;
};

/// Writes nothing: finds what cannot be written.
class ArchiveToNothing final : public Archive {
 public:
  ArchiveToNothing() : Archive(false) {}

 private:
  void bytes(void* data, std::size_t size) override {
    static_cast<void>(data);
    static_cast<void>(size);
  }
};

}  // namespace banyan
