// A picture of the research graph with the node at work. A test compares nodes and edges with the compiled graph.

import { svg } from "./dom.js";
import { t, word } from "./texts.js";

export const NODES = {
  intake: [40, 28], planner: [118, 28], review: [196, 28], searcher: [274, 28], selector: [352, 28],
  writer: [40, 112], judge: [118, 112], branches: [196, 112], reading: [352, 112],
};
export const EDGES = [
  ["intake", "planner"], ["planner", "review"], ["review", "searcher"], ["searcher", "selector"],
  ["selector", "reading"], ["reading", "judge"], ["judge", "planner"], ["judge", "writer"],
  ["review", "branches"], ["branches", "judge"],
];
const W = 68;
const H = 30;

function path([from, to]) {
  const [x1, y1] = NODES[from];
  const [x2, y2] = NODES[to];
  if (from === "reading" && to === "judge") return `M${x1} ${y1 + H / 2} v14 H${x2} v-12`;
  if (y1 === y2) return x2 > x1 ? `M${x1 + W / 2} ${y1} H${x2 - W / 2 - 3}` : `M${x1 - W / 2} ${y1} H${x2 + W / 2 + 3}`;
  return y2 > y1 ? `M${x1} ${y1 + H / 2} V${y2 - H / 2 - 3}` : `M${x1} ${y1 - H / 2} V${y2 + H / 2 + 3}`;
}

export function drawGraph() {
  const nodes = Object.entries(NODES).map(([name, [x, y]]) =>
    svg("g", { class: "node", "data-node": name },
      svg("rect", { x: x - W / 2, y: y - H / 2, width: W, height: H, rx: 8 }),
      svg("text", { x, y: y + 4, "text-anchor": "middle" }, word("node", name))));
  const edges = EDGES.map((edge) => svg("path", { class: "edge", d: path(edge), "marker-end": "url(#tip)" }));
  const tip = svg("marker", { id: "tip", viewBox: "0 0 6 6", refX: 5, refY: 3, markerWidth: 5, markerHeight: 5, orient: "auto" },
    svg("path", { d: "M0 0L6 3L0 6z", class: "tip" }));
  return svg("svg", { class: "graph", viewBox: "0 0 392 150", role: "img", "aria-label": t("watch.graph") },
    svg("defs", {}, tip), edges, nodes);
}

export function markNode(picture, model) {
  const now = model.completed ? "" : model.node;
  for (const node of picture.querySelectorAll(".node")) {
    const name = node.dataset.node;
    node.classList.toggle("now", name === now);
    node.classList.toggle("was", name !== now && model.done.includes(name));
  }
  const words = now ? t("watch.graph.now", { node: word("node", now) }) : t("watch.graph");
  picture.setAttribute("aria-label", words);
}
