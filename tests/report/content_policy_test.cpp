// Does the page's policy name the right hashes?
#include "banyan/report/content_policy.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace banyan::report::content_policy_test {
namespace {

std::string hex(std::string_view bytes) {
  std::string text;
  for (const unsigned char byte : sha256(bytes)) text += fmt::format("{:02x}", byte);
  return text;
}

// Vectors of FIPS 180-4's examples, and lengths around the end of a block.
TEST(Sha256, AgreesWithTheStandard) {
  EXPECT_EQ(hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hex(std::string(55, 'a')), "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
  EXPECT_EQ(hex(std::string(64, 'a')), "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
  EXPECT_EQ(hex(std::string(1000000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Base64, AgreesWithTheStandard) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64("\xFF\xEF\xBE"), "/+++");
}

TEST(ContentPolicy, AllowsOneStyleAndOneScript) {
  EXPECT_EQ(content_policy("abc", ""),
            "default-src 'none'; style-src 'sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0='; script-src 'none'; "
            "base-uri 'none'; form-action 'none'");
  EXPECT_NE(content_policy("", "abc").find("script-src 'sha256-ungWv48Bz"), std::string::npos);
}

}  // namespace
}  // namespace banyan::report::content_policy_test
