"""The shape of the machine: `graph` is compiled and ready, `build_graph` makes one with other parts."""

from fathom.graph.dependencies import Dependencies, DependencyFactory, standard_dependencies
from fathom.graph.research import Research, build_graph, graph

__all__ = [
    "Dependencies",
    "DependencyFactory",
    "Research",
    "build_graph",
    "graph",
    "standard_dependencies",
]
