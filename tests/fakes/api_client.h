// An ApiClient that remembers what it was asked and answers from a list; no network.
#pragma once

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "kube/api_client.h"

namespace podium::fakes {

class ScriptedApi final : public ApiClient {
 public:
  std::vector<ApiRequest> asked;
  std::deque<Result<ApiReply>> replies;  // one for each call; none left: kUnavailable

  Result<ApiReply> Call(const ApiRequest& request) override {
    asked.push_back(request);
    if (replies.empty()) return Error{ErrorKind::kUnavailable, "nothing is scripted"};
    Result<ApiReply> reply = std::move(replies.front());
    replies.pop_front();
    return reply;
  }
  Result<ApiReply> Stream(const std::string&, const Query&, const StreamLimits&, ByteReceiver&,
                          const std::stop_token&) override {
    return Error{ErrorKind::kUnavailable, "streams are not scripted"};
  }
};

}  // namespace podium::fakes
