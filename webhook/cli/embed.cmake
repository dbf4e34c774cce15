# Writes embedded.cc: the shipped policy and the sample cluster as string literals (cli/embedded.h).
file(READ ${POLICY} policy)
file(READ ${CLUSTER} cluster)
file(WRITE ${OUT}
"#include \"cli/embedded.h\"
namespace podium {
const std::string_view kEmbeddedPolicy = R\"EMBEDDED(${policy})EMBEDDED\";
const std::string_view kEmbeddedCluster = R\"EMBEDDED(${cluster})EMBEDDED\";
}  // namespace podium
")
