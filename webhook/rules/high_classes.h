// Where pods of a high class may run, as far as the policy decides it.
#pragma once

#include <string>

#include "rules/catalog.h"

namespace podium {

// Who may use a class of tier high in the request's namespace, for a message; empty: nobody. Types are asked in their
// order, since the first match wins; behind one that takes every pod of the namespace, none is reached. A pod that no
// type matches has whatever class it names. A namespace whose labels are not known is not excluded by them.
std::string WhoMayBeHigh(const RuleInput& in);

}  // namespace podium
