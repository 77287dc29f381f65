// No licence here.
#include "Other.h"
#include "frontend/graph/Graph.h"
#include "runtime/api/layout.h"
