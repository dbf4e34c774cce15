// Where the objects of a watched resource go.
#pragma once

#include <string_view>

#include "podium/result.h"

namespace podium {

// Takes the objects of one kind, as JSON text. Called from one thread.
class ObjectSink {
 public:
  virtual ~ObjectSink() = default;
  virtual void BeginList() = 0;                        // readers keep the old view until EndList
  virtual Status ListItem(std::string_view json) = 0;  // an error: this object is skipped and counted
  virtual void EndList() = 0;
  virtual void AbandonList() = 0;  // the list broke off: nothing changes
  virtual Status Upsert(std::string_view json) = 0;
  virtual Status Delete(std::string_view json) = 0;
  virtual void Alive() = 0;  // a watch was accepted, an event or a bookmark came: the view is fresh
};

}  // namespace podium
