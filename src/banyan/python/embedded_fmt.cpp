// The part of fmt that is compiled, inside the module: the library's objects, which are made for a program, may refer
// to its data only when that lies in the same file (cmake/Python.cmake).
#include <fmt/format-inl.h>

#include <locale>

FMT_BEGIN_NAMESPACE
namespace detail {

template FMT_API auto dragonbox::to_decimal(float x) noexcept -> dragonbox::decimal_fp<float>;
template FMT_API auto dragonbox::to_decimal(double x) noexcept -> dragonbox::decimal_fp<double>;
template FMT_API locale_ref::locale_ref(const std::locale& loc);
template FMT_API auto locale_ref::get<std::locale>() const -> std::locale;
template FMT_API auto thousands_sep_impl(locale_ref) -> thousands_sep_result<char>;
template FMT_API auto decimal_point_impl(locale_ref) -> char;
template FMT_API void buffer<char>::append(const char*, const char*);
template void vformat_to<char>(buffer<char>&, string_view, basic_format_args<format_context>, locale_ref);

}  // namespace detail
FMT_END_NAMESPACE

// The same goes for the C library's word on whether there is one thread only, which shared pointers read: there may be
// several.
extern const char one_thread_only __asm__("__libc_single_threaded");
const char one_thread_only = 0;
