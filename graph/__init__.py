"""The shape of the machine: `graph` is compiled and ready, `build_graph` makes one with other parts."""

from fathom.graph.dependencies import (
    CustomDependencies,
    Dependencies,
    DependencyFactory,
    standard_dependencies,
)
from fathom.graph.research import Research, build_graph, graph

__all__ = [
    "CustomDependencies",
    "Dependencies",
    "DependencyFactory",
    "Research",
    "build_graph",
    "graph",
    "standard_dependencies",
]
