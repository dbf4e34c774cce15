// An answer as bytes: head and body in one string, for one write.
#pragma once

#include <string>

#include "serving/http.h"

namespace podium {

struct ReplyOptions {
  enum class Connection { kKeep, kKeepExplicit, kClose } connection = Connection::kKeep;  // explicit: for HTTP/1.0
  enum class Body { kSend, kOmit } body = Body::kSend;                                    // omit: an answer to HEAD
};

// Date, Content-Type, Content-Length and the response's own headers; an answer without a body has no type.
std::string SerializeReply(const HttpResponse& response, const ReplyOptions& options);

// "Not Found"; "Unknown" for a status that Podium never sends.
std::string_view ReasonPhrase(int status);

}  // namespace podium
