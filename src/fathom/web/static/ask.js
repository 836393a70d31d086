// Ask: one field, where to look, how far to go and what that costs; the rest is behind "more".

import { get, post, sessionId } from "./api.js";
import { documentPicker } from "./documents.js";
import { act, button, field, h } from "./dom.js";
import { expectation, language, t } from "./texts.js";

const DEPTHS = ["quick", "standard", "comprehensive"];
const SOURCES = ["web", "papers", "news", "documents"];

const select = (name, options, chosen = "") =>
  h("select", { name }, options.map(([value, words]) => h("option", { value, selected: value === chosen }, words)));
const input = (name, more = {}) => h("input", { name, type: "text", autocomplete: "off", ...more });

export function askView(main) {
  document.title = `Fathom · ${t("nav.ask")}`;
  const state = { docs: [], uploads: "", timer: 0, setup: null };
  const question = h("textarea", {
    name: "query", rows: 3, maxlength: 2000, required: true, "aria-label": t("ask.title"), placeholder: t("ask.placeholder"),
  });
  const told = h("div", {});
  const price = h("output", { class: "price", "aria-live": "polite" });
  const configured = h("div", { class: "configured" });
  const examples = h("div", { class: "examples" });
  const demo = h("section", { class: "card demo", hidden: true });
  const documents = h("div", { class: "documents", hidden: true });
  const send = h("button", { class: "primary big", type: "submit" }, t("ask.send"));
  const dial = h("input", { type: "range", name: "depth", min: 0, max: 2, step: 1, value: "0", "aria-label": t("ask.depth") });
  const sources = h("fieldset", { class: "chips" }, h("legend", {}, t("ask.sources")),
    SOURCES.map((name) => h("label", { class: "chip" },
      h("input", { type: "radio", name: "source", value: name, checked: name === "web" }), h("span", {}, t(`source.${name}`)))));
  const review = select("review", ["plan", "rounds", "off"].map((name) => [name, t(`review.${name}`)]), "plan");
  const form = h("form", { class: "ask", onsubmit: begin }, question,
    h("div", { class: "panel" }, sources, documents,
      h("div", { class: "dials" },
        h("div", {}, h("span", { class: "label" }, t("ask.depth")), dial,
          h("div", { class: "stops", "aria-hidden": "true" }, DEPTHS.map((name) => h("span", {}, t(`depth.${name}`))))),
        field(t("ask.review"), review))),
    h("div", { class: "row between send" }, price, send),
    told, moreFields());
  main.append(h("div", { class: "column ask-page" }, h("h1", {}, t("ask.title")), h("p", { class: "lead" }, t("ask.lead")),
    demo, form, examples, configured));

  function settings() {
    const given = Object.fromEntries(new FormData(form));
    const config = { depth: DEPTHS[Number(given.depth)], review: given.review };
    if (given.source === "papers") config.academic = true;
    if (given.source === "news") config.news = true;
    if (given.source === "documents") {
      config.docs = [...state.docs];
      if (given.also_web) config.engines = ["hybrid"];
    }
    for (const name of ["language", "length", "since", "until", "source_language"]) if (given[name]) config[name] = given[name];
    for (const name of ["budget_usd", "rounds", "sources"]) if (given[name]) config[name] = Number(given[name]);
    if (given.minutes) config.time_limit_s = Number(given.minutes) * 60;
    for (const name of ["include_domains", "exclude_domains"]) {
      if (given[name]) config[name] = given[name].split(/[\s,]+/).filter(Boolean);
    }
    if (given.strategy && given.strategy !== "loop") config.strategy = given.strategy;
    if (given.fresh) config.fresh = true;
    return { query: question.value.trim(), config };
  }

  async function begin(event) {
    event.preventDefault();
    const asked = settings();
    if (asked.config.docs && !asked.config.docs.length) {
      told.replaceChildren(h("p", { class: "refusal", role: "alert" }, t("docs.none")));
      return;
    }
    if (form.elements.several.checked) {
      const { budget_usd: total, ...config } = asked.config;
      const batch = { questions: question.value, config: { ...config, review: "off" }, total_usd: total ?? null };
      const begun = await act(send, told, () => post("batches", batch));
      if (begun) location.hash = `#/batch/${begun.id}`;
      return;
    }
    const begun = await act(send, told, () => post("runs", { ...asked, config: { ...asked.config, session_id: sessionId() } }));
    if (begun) location.hash = `#/run/${begun.id}`;
  }

  async function beginDemo(event) {
    const begun = await act(event.currentTarget, told, () => post("demo", { language }));
    if (begun) location.hash = `#/run/${begun.id}/watch`;
  }

  function expect() {
    dial.setAttribute("aria-valuetext", t(`depth.${DEPTHS[Number(dial.value)]}`));
    clearTimeout(state.timer);
    state.timer = setTimeout(forecast, 300);
  }

  async function forecast() {
    const asked = settings();
    if (asked.config.docs && !asked.config.docs.length) {
      price.textContent = t("docs.none");
      return;
    }
    const count = form.elements.several.checked ? question.value.split("\n").filter((line) => line.trim()).length : 1;
    asked.query = asked.query.split("\n")[0].trim() || t("example.web");
    try {
      const found = await post("forecast", asked);
      price.textContent = expectation(found) + (count > 1 ? ` · ${t("price.each", { n: count })}` : "");
    } catch (error) {
      price.textContent = error.message;
    }
  }

  function moreFields() {
    return h("details", { class: "more" }, h("summary", {}, t("ask.more")),
      h("div", { class: "grid" },
        field(t("more.budget"), input("budget_usd", { type: "number", min: 0, step: "0.01", inputmode: "decimal" }), t("more.budget.hint")),
        field(t("more.minutes"), input("minutes", { type: "number", min: 1, inputmode: "numeric" })),
        field(t("more.rounds"), input("rounds", { type: "number", min: 1, max: 100, inputmode: "numeric" })),
        field(t("more.pages"), input("sources", { type: "number", min: 1, max: 100, inputmode: "numeric" })),
        field(t("more.language"), input("language", { placeholder: t("more.language.hint") })),
        field(t("more.length"), select("length", ["", "short", "standard", "long"].map((name) => [name, t(`length.${name || "auto"}`)]))),
        field(t("more.since"), input("since", { type: "date" })),
        field(t("more.until"), input("until", { type: "date" })),
        field(t("more.only"), input("include_domains", { placeholder: "example.org" })),
        field(t("more.not"), input("exclude_domains", { placeholder: "example.org" })),
        field(t("more.source_language"), input("source_language", { maxlength: 2, placeholder: "ko" })),
        field(t("more.strategy"), select("strategy", ["loop", "tree", "rollouts"].map((name) => [name, t(`strategy.${name}`)]))),
        h("label", { class: "check" }, h("input", { type: "checkbox", name: "fresh" }), t("more.fresh")),
        h("label", { class: "check" }, h("input", { type: "checkbox", name: "several" }), t("more.several"))));
  }

  function showDocuments() {
    const alsoWeb = h("label", { class: "check" }, h("input", { type: "checkbox", name: "also_web" }), t("docs.also"));
    documentPicker(documents, state, expect, alsoWeb);
  }

  function showSetup() {
    const { model, example } = state.setup;
    const fillIn = (text, source) => () => {
      question.value = text;
      form.elements.source.value = source;
      if (source === "documents") state.docs = [example.place];
      changed();
      question.focus();
    };
    const offered = [];
    if (example) offered.push([t("example.documents", { name: example.name }), "documents"]);
    offered.push([t("example.web"), "web"], [t("example.papers"), "papers"]);
    examples.replaceChildren(h("h2", { class: "small" }, t("ask.examples")),
      h("ul", {}, offered.map(([text, source]) => h("li", {}, button(text, fillIn(text, source), "example"), h("span", { class: "hint" }, t(`source.${source}`))))));
    demo.hidden = !state.setup.demo.includes(language);
    demo.replaceChildren(h("div", {}, h("h2", {}, t("demo.title")), h("p", {}, t("demo.why"))), button(t("demo.send"), beginDemo, model ? "plain" : "primary"));
    if (model) form.after(demo); // whoever can ask wants the question first
    else form.querySelector(".send").after(h("p", { class: "note warn" }, t("setup.none")));
    const lines = h("dl", { class: "lines" });
    configured.replaceChildren(
      model ? h("p", { class: "note" }, t("setup.model", { model })) : "",
      h("details", { ontoggle: () => showDiagnosis(lines) }, h("summary", {}, t("setup.all")), lines));
  }

  async function showDiagnosis(place) {
    if (place.childElementCount) return;
    try {
      const found = await get("diagnosis");
      place.replaceChildren(...Object.entries(found.lines).flatMap(([name, words]) => [h("dt", {}, name), h("dd", {}, words)]));
    } catch (error) {
      place.replaceChildren(h("dd", {}, error.message));
    }
  }

  function changed() {
    const isDocuments = form.elements.source.value === "documents";
    if (isDocuments) showDocuments();
    documents.hidden = !isDocuments;
    expect();
  }

  sources.addEventListener("change", changed);
  form.addEventListener("input", expect);
  question.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
  get("setup").then((found) => {
    state.setup = found;
    const { usual } = found;
    dial.value = String(DEPTHS.indexOf(usual.depth));
    form.elements.budget_usd.placeholder = String(usual.budget_usd);
    if (found.ceilings.budget_usd) form.elements.budget_usd.max = String(found.ceilings.budget_usd);
    showSetup();
    expect();
  }).catch((error) => told.replaceChildren(h("p", { class: "refusal", role: "alert" }, error.message)));
  return () => clearTimeout(state.timer);
}
