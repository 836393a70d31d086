// Batches: many questions at once, each a run of its own, with one table.

import { get, post } from "./api.js";
import { act, button, h, show } from "./dom.js";
import { paid, span, t, word } from "./texts.js";

const GLANCE_MS = 1500;

// Every batch of the database, for the history; nothing where there is none.
export function batchList() {
  const place = h("section", { class: "batches", hidden: true });
  get("batches").then((found) => {
    place.hidden = !found.length;
    place.replaceChildren(h("h2", {}, t("batch.all")), h("ul", { class: "history" }, found.map((one) => h("li", {}, h("div", {},
      h("a", { class: "history-question", href: `#/batch/${one.id}` }, one.questions > 1 ? t("batch.name", { first: one.first, n: one.questions - 1 }) : one.first || one.id),
      h("p", { class: "meta" }, pill(one),
        [t("batch.done", { n: one.done, of: one.questions }), paid(one.cost_usd)].filter(Boolean).join(" · ")))))));
  }).catch(() => {});
  return place;
}

function pill({ is_working: isWorking, done, questions }) {
  const state = isWorking ? "running" : done === questions ? "complete" : "stopped";
  return h("span", { class: `pill ${state}` }, word("status", state));
}

export function batchView(main, id) {
  document.title = `Fathom · ${t("batch.title")}`;
  const told = h("div", {});
  const about = h("div", {});
  const table = h("div", { class: "table batch", role: "region", tabindex: 0, "aria-label": t("batch.title") });
  const heading = h("h1", {}, t("batch.title"));
  main.append(h("div", { class: "column wide" }, heading, about, told, table));
  let timer = 0;

  async function load() {
    clearTimeout(timer);
    try {
      const found = await get(`batches/${id}`);
      paint(found);
      if (found.is_working) timer = setTimeout(load, GLANCE_MS);
    } catch (error) {
      told.replaceChildren(h("p", { class: "refusal", role: "alert" }, error.message));
      if (!error.status) timer = setTimeout(load, GLANCE_MS);
    }
  }

  function paint(found) {
    const { rows } = found;
    const done = rows.filter((row) => row.report).length;
    show(heading, rows.length, () => (rows.length ? t("batch.of", { n: rows.length }) : t("batch.title")));
    const order = (name) => (event) => act(event.currentTarget, told, async () => {
      await post(`batches/${id}/${name}`);
      setTimeout(load, 300);
    });
    show(about, [found.is_working, found.problem, done, rows.length], () => [
      h("p", { class: "standing" }, pill({ ...found, done, questions: rows.length }),
        [t("batch.done", { n: done, of: rows.length }), paid(rows.reduce((sum, row) => sum + row.cost_usd, 0))].filter(Boolean).join(" · ")),
      found.problem ? h("p", { class: "refusal", role: "alert" }, found.problem) : null,
      h("div", { class: "row" },
        found.is_working ? button(t("batch.stop"), order("stop")) : null,
        !found.is_working && found.is_own && done < rows.length ? button(t("run.go_on"), order("go-on"), "primary") : null)]);
    const number = (name, words) => h("td", { class: "number", "data-label": t(`batch.${name}`) }, words);
    show(table, rows, () => h("table", { class: "stacked" },
      h("thead", {}, h("tr", {}, ["question", "status", "score", "sources", "cost", "time"].map((name, at) => h("th", { scope: "col", class: at > 1 ? "number" : null }, t(`batch.${name}`))))),
      h("tbody", {}, rows.map((row) => h("tr", {},
        h("th", { scope: "row" }, h("a", { href: `#/run/${row.run_id}` }, row.question)),
        h("td", { "data-label": t("batch.status") }, h("span", { class: `pill ${row.status.replaceAll(" ", "-")}` }, word("status", row.status)), row.because && !row.report ? h("p", { class: "hint" }, row.because) : null),
        number("score", row.score === null || row.status === "extracts" ? "–" : row.score.toFixed(2)), number("sources", row.sources || "–"),
        number("cost", paid(row.cost_usd) || "–"), number("time", row.duration_s ? span(row.duration_s) : "–"))))));
  }

  load();
  return () => clearTimeout(timer);
}
