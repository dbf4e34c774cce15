// Private to engine.cc: the head of a request through Beast's parser. Boost may be included here.
//
// basic_parser and not request_parser: it checks the same grammar but calls back with views instead of building a
// container of fields.
#pragma once

#define BOOST_BEAST_USE_STD_STRING_VIEW
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <string_view>
#include <variant>

#include "serving/head.h"

namespace podium {

// Fills a RequestHead; accepts what the grammar allows. What Podium allows is JudgeHead's business.
class HeadParser final : public boost::beast::http::basic_parser<true> {
 public:
  using ErrorCode = boost::system::error_code;

  [[nodiscard]] RequestHead& head() { return head_; }

 private:
  using OptionalLength = boost::optional<std::uint64_t>;
  using Field = boost::beast::http::field;

  void on_request_impl(boost::beast::http::verb, std::string_view method, std::string_view target, int version,
                       ErrorCode&) override {
    head_.method = method;
    head_.target = target;
    head_.http11 = version == 11;
  }

  void on_field_impl(Field field, std::string_view, std::string_view value, ErrorCode&) override {
    ++head_.fields;
    switch (field) {
      case Field::host: ++head_.hosts; break;
      case Field::content_length:
        ++head_.content_lengths;
        head_.content_length = value;
        break;
      case Field::content_type:
        ++head_.content_types;
        head_.content_type = value;
        break;
      case Field::authorization:
        ++head_.authorizations;
        head_.authorization = value;
        break;
      case Field::transfer_encoding: head_.transfer_encoding = true; break;
      case Field::content_encoding: head_.content_encoding = true; break;
      case Field::expect: head_.expect = true; break;
      case Field::range: head_.range = true; break;
      default: break;
    }
  }

  // A request only, and only its head.
  void on_response_impl(int, std::string_view, int, ErrorCode&) override {}
  void on_header_impl(ErrorCode&) override {}
  void on_body_init_impl(const OptionalLength&, ErrorCode&) override {}
  std::size_t on_body_impl(std::string_view, ErrorCode&) override { return 0; }
  void on_chunk_header_impl(std::uint64_t, std::string_view, ErrorCode&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, std::string_view, ErrorCode&) override { return 0; }
  void on_finish_impl(ErrorCode&) override {}

  RequestHead head_;
};

inline HttpResponse ParseFailure(const HeadParser::ErrorCode& failure) {
  using boost::beast::http::error;
  if (failure == error::bad_version) return ErrorResponse(505, "HTTP/1.1 and HTTP/1.0 are spoken here");
  if (failure == error::bad_content_length) return ErrorResponse(400, "the Content-Length is not one number of bytes");
  if (failure == error::bad_transfer_encoding) return ErrorResponse(400, "the Transfer-Encoding is contradictory");
  return ErrorResponse(400, "the head of the request is not well-formed HTTP");
}

// `bytes`: a whole head, up to and including its empty line. The views in the result point into it.
inline std::variant<RequestHead, HttpResponse> ParseHead(std::string_view bytes) {
  HeadParser parser;
  parser.header_limit(static_cast<std::uint32_t>(bytes.size()));  // the caller has checked the size
  parser.skip(true);
  HeadParser::ErrorCode error;
  const std::size_t used = parser.put({bytes.data(), bytes.size()}, error);
  if (error) return ParseFailure(error);
  // Two readings of where the head ends would be two readings of where the next request begins.
  if (!parser.is_header_done() || used != bytes.size())
    return ErrorResponse(400, "the head of the request is not well-formed HTTP");
  parser.head().keep_alive = parser.keep_alive();
  parser.head().folded =
      bytes.find("\r\n ") != std::string_view::npos || bytes.find("\r\n\t") != std::string_view::npos;
  return parser.head();
}

}  // namespace podium
