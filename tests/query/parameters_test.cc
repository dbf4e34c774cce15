#include "query/parameters.h"

#include <gtest/gtest.h>

namespace podium {
namespace {

TEST(QueryParameters, AreReadAsTheyAreWritten) {
  const struct {
    const char* query;
    QueryParameters want;
  } rows[] = {{"", {}},
              {"replicas=4", {4, std::nullopt}},
              {"gang", {std::nullopt, Placing::kAllOrNothing}},
              {"gang=false", {std::nullopt, Placing::kOneByOne}},
              {"&replicas=1000&&gang=true&", {1000, Placing::kAllOrNothing}}};
  for (const auto& row : rows) {
    const auto read = ParseQueryParameters(row.query, 1'000);
    ASSERT_TRUE(read) << row.query;
    EXPECT_EQ(*read, row.want) << row.query;
  }
}

TEST(QueryParameters, EveryMistakeIsToldAtOnce) {
  const struct {
    const char* query;
    const char* want;
  } rows[] = {
      {"replicas", "replicas is 'true'; allowed: a whole number from 1 to 1000"},
      {"replicas=", "replicas is ''; allowed: a whole number from 1 to 1000"},
      {"replicas=0", "replicas is '0'; allowed: a whole number from 1 to 1000"},
      {"replicas=1001", "replicas is '1001'; allowed: a whole number from 1 to 1000"},
      {"replicas=99999999999999999999", "replicas is '99999999999999999999'; allowed: a whole number from 1 to 1000"},
      {"replicas=1&replicas=2", "replicas is given twice; give it once"},
      {"gang=yes&gang=", "gang is 'yes'; allowed: true, false; gang is ''; allowed: true, false"},
      {"gang&gang", "gang is given twice; give it once"},
      {"replica=3&replicas=-1",
       "there is no parameter 'replica'; allowed: replicas, gang; replicas is '-1'; allowed: a whole number from 1 to "
       "1000"},
  };
  for (const auto& row : rows) {
    const auto read = ParseQueryParameters(row.query, 1'000);
    ASSERT_FALSE(read) << row.query;
    EXPECT_EQ(read.error(), (Error{ErrorKind::kInvalidInput, row.want})) << row.query;
  }
}

}  // namespace
}  // namespace podium
