"""The shape of the machine: `graph` is compiled and ready, `build` makes one with other parts."""

from fathom.graph.kit import Kit, Kits, standard_kits, working_with
from fathom.graph.research import Research, build, graph

__all__ = ["Kit", "Kits", "Research", "build", "graph", "standard_kits", "working_with"]
