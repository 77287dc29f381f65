// No licence here.
#include "frontend/graph/Graph.h"
#include "Other.h"
#include "runtime/api/layout.h"
