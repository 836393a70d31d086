// The page's frame: header, language, and which view is shown. Views are addresses after the #.

import { post } from "./api.js";
import { askView } from "./ask.js";
import { auditFormView, auditView } from "./audit.js";
import { act, button, h } from "./dom.js";
import { batchView } from "./batches.js";
import { compareView, historyView } from "./history.js";
import { runView } from "./run.js";
import { choose, language, load, t } from "./texts.js";

const main = document.getElementById("main");
let leave = () => {};
let shown = "";

const VIEWS = [
  [/^#\/history$/, historyView],
  [/^#\/compare\/([\w-]+)\/([\w-]+)$/, compareView],
  [/^#\/audit$/, auditFormView],
  [/^#\/audit\/(\w+)$/, auditView],
  [/^#\/batch\/(\w+)$/, batchView],
  [/^#\/run\/([\w-]+)(?:\/(plan|watch|read))?$/, runView],
  [/^(#\/?)?$/, askView],
];

// Which part of the page a view belongs to.
const PARTS = { "#/": /^(#\/?)?$/, "#/audit": /^#\/audit/, "#/history": /^#\/(history|run|compare|batch)/ };

function frame() {
  const other = language === "ko" ? "en" : "ko";
  const link = (to, words) => h("a", { href: to, "aria-current": PARTS[to].test(location.hash) ? (location.hash === to || to === "#/" ? "page" : "true") : null }, words);
  document.getElementById("skip").textContent = t("skip");
  document.getElementById("top").replaceChildren(
    h("a", { class: "brand", href: "#/", "aria-label": "Fathom" }, h("img", { src: "static/icon.svg", alt: "", width: 26, height: 26 }), h("span", {}, "Fathom")),
    h("nav", { "aria-label": t("nav") },
      link("#/", t("nav.ask")),
      link("#/audit", t("nav.audit")),
      link("#/history", t("nav.history")),
      button(other === "ko" ? "한국어" : "English", async () => {
        localStorage.setItem("language", other);
        await choose(other);
        shown = "";
        route();
      }, "quiet", { lang: other })));
}

function route() {
  const place = location.hash;
  if (place === "#main") return;
  const [pattern, view] = VIEWS.find(([one]) => one.test(place)) ?? VIEWS.at(-1);
  const words = pattern.exec(place) ?? [];
  const isSameRun = view === runView && shown === `run ${words[1]}`;
  frame();
  if (isSameRun) {
    main.dispatchEvent(new CustomEvent("tab", { detail: words[2] ?? "" }));
    return;
  }
  leave();
  const isFirst = shown === "";
  shown = view === runView ? `run ${words[1]}` : view.name;
  main.replaceChildren();
  leave = view(main, ...words.slice(1)) ?? (() => {});
  scrollTo(0, 0);
  if (!isFirst) main.focus({ preventScroll: true });
}

function locked() {
  const key = h("input", { type: "password", autocomplete: "current-password", "aria-label": t("key.label"), required: true });
  const told = h("div", {});
  const send = h("button", { class: "primary" }, t("key.send"));
  const submit = async (event) => {
    event.preventDefault();
    if (await act(send, told, () => post("login", { key: key.value }))) {
      shown = "";
      route();
    }
  };
  leave();
  leave = () => {};
  document.title = "Fathom";
  main.replaceChildren(h("form", { class: "column", onsubmit: submit },
    h("h1", {}, t("key.title")), h("p", {}, t("key.why")), h("div", { class: "row" }, key, send), told));
}

await load();
addEventListener("hashchange", route);
addEventListener("locked", locked);
route();
