// Go on from a report: ask on, bring it up to date, go another way, compare, hand it on.

import { get, post } from "./api.js";
import { act, button, field, h } from "./dom.js";
import { t, word } from "./texts.js";

export function goOn(run, result) {
  const told = h("div", {});
  const begin = (control, path, body) => act(control, told, async () => {
    const begun = await post(`runs/${run.id}/${path}`, body);
    location.hash = `#/run/${begun.id}`;
  });
  if (run.isDemo) {
    return h("section", { class: "go-on" }, h("h2", {}, t("demo.next")), h("p", {}, t("demo.next.why")),
      h("div", { class: "row" }, h("a", { class: "button primary", href: "#/" }, t("nav.ask"))),
      h("div", { class: "cards" }, handOn(run), compareWith(run)));
  }
  return h("section", { class: "go-on" }, followUp(begin), thread(run, result),
    h("div", { class: "cards" }, another(result, begin), update(begin), handOn(run), compareWith(run)), told);
}

function followUp(begin) {
  const question = h("textarea", { rows: 2, maxlength: 2000, required: true, "aria-label": t("go.ask"), placeholder: t("go.ask.hint") });
  const send = h("button", { class: "primary" }, t("go.ask.send"));
  return h("form", { class: "follow", onsubmit: (event) => { event.preventDefault(); begin(send, "follow-up", { query: question.value.trim() }); } },
    h("h2", {}, t("go.ask")), question, h("div", { class: "row" }, send));
}

function thread(run, result) {
  const place = h("div", {});
  get(`runs/${run.id}/thread`).then((queries) => {
    if (queries.length < 2) return;
    place.replaceChildren(h("h3", {}, t("go.thread")), h("ol", { class: "thread" }, queries.map((one) => h("li", {},
      one.id === result.run_id ? h("strong", {}, one.question) : h("a", { href: `#/run/${one.id}/read` }, one.question)))));
  }).catch(() => {});
  return place;
}

function another(result, begin) {
  const rounds = result.metadata?.rounds ?? 0;
  const direction = h("input", { type: "text", maxlength: 500, required: true, "aria-label": t("go.fork.direction"), placeholder: t("go.fork.direction") });
  const after = h("select", {}, Array.from({ length: rounds }, (_, place) => h("option", { value: String(rounds - place) }, t("watch.round", { n: rounds - place }))));
  const send = h("button", {}, t("go.fork.send"));
  return h("form", { class: "card", onsubmit: (event) => { event.preventDefault(); begin(send, "fork", { direction: direction.value, after_round: Number(after.value) || null }); } },
    h("h2", {}, t("go.fork")), h("p", { class: "hint" }, t("go.fork.hint")), direction, field(t("go.fork.after"), after), send);
}

function update(begin) {
  return h("section", { class: "card" }, h("h2", {}, t("go.update")), h("p", { class: "hint" }, t("go.update.hint")),
    button(t("go.update.send"), (event) => begin(event.currentTarget, "update", {})));
}

function handOn(run) {
  const place = h("div", { class: "row" });
  get("setup").then(({ formats }) => place.append(...Object.entries(formats).map(([kind, name]) =>
    h("a", { class: "button", href: `api/runs/${run.id}/export/${kind}`, download: "" }, name)))).catch(() => {});
  return h("section", { class: "card" }, h("h2", {}, t("go.export")), h("p", { class: "hint" }, t("go.export.hint")), place,
    h("div", { class: "row" }, button(t("go.print"), () => print(), "quiet")));
}

function compareWith(run) {
  const other = h("select", { "aria-label": t("go.compare") });
  const send = h("button", { disabled: true }, t("go.compare.send"));
  get("runs").then((runs) => {
    const others = runs.filter((one) => one.id !== run.id);
    other.append(...others.map((one) => h("option", { value: one.id }, `${one.question.slice(0, 60)} (${word("status", one.status)})`)));
    send.disabled = !others.length;
    card.hidden = !others.length;
  }).catch(() => {});
  const card = h("form", { class: "card", hidden: true, onsubmit: (event) => { event.preventDefault(); location.hash = `#/compare/${run.id}/${other.value}`; } },
    h("h2", {}, t("go.compare")), h("p", { class: "hint" }, t("go.compare.hint")), other, send);
  return card;
}
