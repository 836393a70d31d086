// Watch: what the run does, as it does it, and the means to steer it.

import { post } from "./api.js";
import { act, address, button, h, say, show, svg } from "./dom.js";
import { t, usd, word } from "./texts.js";

export function watchView(body, run) {
  const picture = drawGraph();
  const now = h("p", { class: "now-line" });
  const meters = h("div", { class: "meters" });
  const steer = steering(run);
  const log = h("ol", { class: "log" });
  const logBox = h("div", { class: "log-box", role: "log", tabindex: 0, "aria-label": t("watch.log") }, log);
  const rounds = h("div", { class: "rounds" });
  const ideas = h("div", {});
  const claims = h("div", {});
  const fold = remembering();
  body.append(h("div", { class: "watch" },
    h("aside", { class: "side", "aria-label": t("watch.state") }, picture, now, meters, steer.element),
    h("div", { class: "main" }, h("section", { class: "card" }, h("h2", {}, t("watch.log")), logBox), ideas, rounds, claims)));
  return () => {
    const { model } = run;
    markNode(picture, model);
    show(now, [model.node, Boolean(model.completed), run.isWorking], () => nowLine(run));
    show(meters, [model.score, model.threshold, model.spent, model.round, model.limit, model.claims.length, model.refused.length, model.isByWords], () => meterList(model));
    steer.update();
    const lines = model.log.slice(-60).map((one) => line(one, model.isByWords)).filter(Boolean).slice(-14).reverse();
    show(log, lines, () => lines.map(([text, kind]) => h("li", { class: kind }, text)));
    show(ideas, [model.hypotheses, model.outline, model.gaps, model.directions], () => ideaList(model));
    show(rounds, model.rounds, () => [...model.rounds].reverse().map((round, place) => roundCard(round, fold(`round ${round.number}`, place === 0), model.isByWords)));
    show(claims, [model.claims.length, model.refused.length], () => claimList(model, fold));
  };
}

// Whatever a person has opened or closed stays so when the list is made anew.
function remembering() {
  const chosen = new Map();
  return (name, usual) => ({
    class: "card fold-card",
    open: chosen.get(name) ?? usual,
    onclick: (event) => event.target.closest("summary") && chosen.set(name, !event.currentTarget.open),
  });
}

function nowLine({ model, isWorking }) {
  if (model.completed) {
    const [rule] = model.completed.because.split(" (");
    return t("watch.done", { why: rule ? word("stop", rule) : word("status", model.completed.status) });
  }
  return isWorking && model.node ? t(`doing.${model.node}`) : t("watch.still");
}

function meter(label, value, most, words, mark) {
  const share = most > 0 ? Math.min(1, value / most) : 0;
  const bar = h("div", { class: "bar", role: "meter", "aria-label": label, "aria-valuemin": 0, "aria-valuemax": most, "aria-valuenow": Math.min(value, most), "aria-valuetext": words },
    h("div", { class: "full" }), mark ? h("div", { class: "mark" }) : null);
  bar.firstChild.style.width = `${share * 100}%`;
  if (mark) bar.lastChild.style.left = `${mark * 100}%`;
  return h("div", { class: "meter" }, h("span", {}, label), h("span", { class: "figure" }, words), bar);
}

function meterList(model) {
  const { score, threshold, spent, isByWords } = model;
  const refused = model.refused.reduce((sum, one) => sum + one.count, 0);
  return [
    score === null || isByWords ? null : meter(t("watch.score"), score, 1, t("watch.score.of", { score: score.toFixed(2), enough: threshold.toFixed(2) }), threshold),
    meter(t("watch.money"), spent.usd, spent.budget_usd, t("watch.money.of", { usd: usd(spent.usd), most: usd(spent.budget_usd) })),
    model.limit ? meter(t("watch.rounds"), model.round, model.limit, `${model.round} / ${model.limit}`) : null,
    h("p", { class: "counts" }, isByWords ? t("watch.counts.words", { n: model.claims.length }) : t("watch.counts", { claims: model.claims.length, refused, calls: spent.calls })),
  ];
}

function steering(run) {
  const told = h("div", {});
  const order = (name, words) => (event) => act(event.currentTarget, told, async () => {
    await post(`runs/${run.id}/control`, { word: name });
    say(words);
    told.replaceChildren(h("p", { class: "hint" }, words));
  });
  const pause = button(t("steer.pause"), order("pause", t("steer.pausing")));
  const stop = button(t("steer.stop"), order("stop", t("steer.stopping")));
  const query = h("input", { type: "text", maxlength: 500, "aria-label": t("steer.query"), placeholder: t("steer.query"), required: true });
  const add = h("button", {}, t("steer.add"));
  const form = h("form", {
    class: "row join", onsubmit: (event) => {
      event.preventDefault();
      return act(add, told, async () => {
        await post(`runs/${run.id}/control`, { word: "add", text: query.value });
        query.value = "";
        say(t("steer.added"));
        told.replaceChildren(h("p", { class: "hint" }, t("steer.added")));
      });
    },
  }, query, add);
  const element = h("div", { class: "steer" }, h("div", { class: "row" }, pause, stop), form, told);
  return {
    element,
    update() {
      const isOpen = run.isWorking || ["running", "paused", "stopped", "waiting for review"].includes(run.info?.status);
      element.hidden = run.isOver || Boolean(run.model.completed) || !isOpen;
      const isRunning = run.isWorking || run.info?.status === "running";
      pause.hidden = stop.hidden = !isRunning;
    },
  };
}

function line({ kind, payload, round }, isByWords) {
  switch (kind) {
    case "started": return [payload.is_resumed ? t("log.resumed") : t("log.started"), ""];
    case "plan generated": return [t("log.plan", { n: round, queries: payload.queries.length }), "step"];
    case "search completed": return [t("log.search", { query: payload.query, hits: payload.hits }), payload.lost.length ? "bad" : ""];
    case "content extracted": return payload.chars ? [t("log.read", { title: payload.title }), ""] : [t("log.lost", { title: payload.title }), "bad"];
    case "analysis completed": return isByWords ? [t("log.passages", { title: payload.title, n: payload.claims }), ""] : [t("log.claims", { title: payload.title, claims: payload.claims, refused: payload.rejected }), ""];
    case "sufficiency evaluated": return isByWords ? null : [t("log.judged", { score: payload.judgement.overall.toFixed(2), enough: payload.threshold.toFixed(2) }), "step"];
    case "report started": return isByWords ? null : [t("log.outline", { n: payload.sections.length }), "step"];
    case "report section": return isByWords ? null : [t("log.section", { title: payload.title }), ""];
    case "checkpoint": return payload.why === "round" ? null : [t(`log.${payload.why}`), "step"];
    case "completed": return [t(isByWords ? "log.extracts" : "log.completed"), "step"];
    case "failed": return [payload.error, "bad"];
    default: return null;
  }
}

function ideaList(model) {
  return [
    model.hypotheses.length ? h("section", { class: "card" }, h("h2", {}, t("watch.hypotheses")),
      h("ul", { class: "ideas" }, model.hypotheses.map((one) => h("li", {},
        meter(one.statement, one.confidence, 1, moved(one)),
        h("p", { class: "hint" }, t("watch.evidence", { pro: one.supporting.length, con: one.contradicting.length })))))) : null,
    model.directions.length ? h("section", { class: "card" }, h("h2", {}, t("watch.directions")),
      h("ul", {}, model.directions.map((one) => h("li", {}, h("strong", {}, one.text), " ", h("span", { class: "hint" }, `${one.angle} · ${one.status}`))))) : null,
    model.outline.length ? h("section", { class: "card" }, h("h2", {}, t("watch.outline")),
      h("ul", {}, model.outline.map((part) => h("li", {}, part.title, " ", h("span", { class: "hint" }, t("watch.part", { n: part.claims }), part.lacks ? ` · ${t("watch.lacks")}: ${part.lacks}` : "")))),
      model.gaps.length ? [h("h3", {}, t("plan.gaps")), h("ul", {}, model.gaps.map((text) => h("li", {}, text)))] : null) : null,
  ];
}

function moved({ was, confidence }) {
  const [before, now] = [was, confidence].map((share) => `${Math.round(share * 100)} %`);
  return before === now ? now : `${before} → ${now}`;
}

function roundCard(round, fold, isByWords) {
  return h("details", fold, h("summary", {}, h("h2", {}, t("watch.round", { n: round.number })),
    round.judgement && !isByWords ? h("span", { class: "figure" }, round.judgement.overall.toFixed(2)) : null),
  round.searches.length ? [h("h3", {}, t("watch.searches")), h("ul", { class: "searches" }, round.searches.map((one) => h("li", { class: one.lost?.length ? "bad" : "" },
    h("span", {}, one.query),
    h("span", { class: "hint" }, one.hits === null ? t("watch.searching") : [t("watch.hits", { n: one.hits }), one.engines.length ? ` · ${one.engines.join(", ")}` : "", one.lost.map((lost) => ` · ${lost.what}: ${lost.why}`)]))))] : null,
  round.pages.length ? [h("h3", {}, t("watch.pages")), h("ul", { class: "pages" }, round.pages.map((page) => h("li", { class: page.state },
    h("span", {}, page.title || page.address), h("span", { class: "hint" }, pageState(page, isByWords)), address(page.address))))] : null);
}

function pageState(page, isByWords) {
  if (page.state === "lost") return page.why || t("page.lost");
  if (page.state === "done") return isByWords ? t("watch.passages", { n: page.claims }) : t("page.done", { claims: page.claims, refused: page.rejected });
  return t(`page.${page.state}`);
}

function claimList(model, fold) {
  return [
    model.claims.length ? h("details", fold("claims", false), h("summary", {}, h("h2", {}, t(model.isByWords ? "watch.found" : "watch.claims", { n: model.claims.length }))),
      h("ul", { class: "claims" }, [...model.claims].reverse().map((one) => h("li", {}, h("span", {}, one.statement), h("span", { class: "hint" }, one.title))))) : null,
    model.refused.length ? h("details", fold("refused", false), h("summary", {}, h("h2", {}, t("watch.refused", { n: model.refused.reduce((sum, one) => sum + one.count, 0) }))),
      h("ul", { class: "refused" }, [...model.refused].reverse().map((one) => h("li", {},
        h("span", {}, one.statement || t("watch.unnamed", { n: one.count })), h("span", { class: "hint" }, word("reason", one.why), one.reason ? ` · ${one.reason}` : "", ` · ${one.title}`))))) : null,
  ];
}

// A picture of the research graph with the node at work. A test compares nodes and edges with the compiled graph.
const NODES = {
  intake: [40, 28], planner: [118, 28], review: [196, 28], searcher: [274, 28], selector: [352, 28],
  writer: [40, 112], judge: [118, 112], branches: [196, 112], reading: [352, 112],
};
const EDGES = [
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

function drawGraph() {
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

function markNode(picture, model) {
  const now = model.completed ? "" : model.node;
  for (const node of picture.querySelectorAll(".node")) {
    const name = node.dataset.node;
    node.classList.toggle("now", name === now);
    node.classList.toggle("was", name !== now && model.done.includes(name));
  }
  const words = now ? t("watch.graph.now", { node: word("node", now) }) : t("watch.graph");
  picture.setAttribute("aria-label", words);
}
