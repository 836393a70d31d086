// Audit: somebody's report, statement by statement, against what it cites. Verdicts have a colour and a word.

import { get, post, upload } from "./api.js";
import { documentPicker } from "./documents.js";
import { act, address, button, field, h, put, say, show } from "./dom.js";
import { expectation, language, t, usd, word } from "./texts.js";

const GLANCE_MS = 1000;
const WAYS = ["text", "address", "file"];
const VERDICTS = ["supported", "partly", "contradicted", "not in the source", "source unreachable", "source invented", "uncited"];

const name = (verdict) => word("verdict", verdict);
const css = (verdict) => `verdict ${verdict.replaceAll(" ", "-")}`;
const refusal = (words) => h("p", { class: "refusal", role: "alert" }, words);

export function auditFormView(main) {
  document.title = `Fathom · ${t("nav.audit")}`;
  const state = { docs: [], uploads: "" };
  const told = h("div", {});
  const forecast = h("section", { class: "card forecast", hidden: true, tabindex: -1, "aria-label": t("audit.forecast") });
  const documents = h("div", { class: "documents" });
  const text = h("textarea", { name: "text", rows: 8, placeholder: t("audit.text.hint") });
  const place = h("input", { name: "address", type: "url", autocomplete: "off", placeholder: "https://example.org/report" });
  const file = h("input", { name: "file", type: "file", accept: ".md,.txt,.html,.htm,.pdf,.docx" });
  const fields = { text: field(t("audit.text"), text), address: field(t("audit.address"), place), file: field(t("audit.file"), file) };
  const isSearched = h("input", { type: "checkbox", name: "search" });
  const budget = h("input", { name: "budget_usd", type: "number", min: 0, step: "0.01", inputmode: "decimal" });
  const look = h("button", { class: "primary big", type: "submit" }, t("audit.look"));
  const ways = h("fieldset", { class: "chips" }, h("legend", {}, t("audit.way")), WAYS.map((way) => h("label", { class: "chip" },
    h("input", { type: "radio", name: "way", value: way, checked: way === "text" }), h("span", {}, t(`audit.way.${way}`)))));
  const form = h("form", { class: "audit-form", onsubmit: ask, oninput: changed, onchange: changed },
    h("div", { class: "panel" }, ways, Object.values(fields)),
    h("label", { class: "check" }, isSearched, t("audit.search")),
    h("details", { class: "more" }, h("summary", {}, t("audit.docs")), documents),
    h("details", { class: "more" }, h("summary", {}, t("ask.more")), h("div", { class: "grid" }, field(t("more.budget"), budget, t("more.budget.hint")))),
    h("div", { class: "row" }, look), told, forecast);
  main.append(h("div", { class: "column" }, h("h1", {}, t("audit.title")), h("p", { class: "lead" }, t("audit.lead")), form));
  documentPicker(documents, state, changed);
  changed();

  // What was told about cost does not hold for another report.
  function changed() {
    for (const way of WAYS) fields[way].hidden = form.elements.way.value !== way;
    forecast.hidden = true;
  }

  async function given() {
    const config = { docs: state.docs };
    if (budget.value) config.budget_usd = Number(budget.value);
    const asked = { is_searched: isSearched.checked, config };
    const way = form.elements.way.value;
    if (way === "text") return { ...asked, text: text.value };
    if (way === "address") return { ...asked, report: /^https?:/i.test(place.value.trim()) ? place.value.trim() : `https://${place.value.trim()}` };
    if (!file.files.length) throw new Error(t("audit.file.none"));
    const kept = await upload(file.files[0], "");
    return { ...asked, report: `${kept.path}/${kept.name}` };
  }

  async function ask(event) {
    event.preventDefault();
    forecast.hidden = true;
    const found = await act(look, told, async () => {
      const asked = await given();
      return { asked, price: await post("audits/forecast", asked) };
    });
    if (!found) return;
    const start = button(t("audit.start"), async () => {
      const begun = await act(start, told, () => post("audits", found.asked));
      if (begun) location.hash = `#/audit/${begun.id}`;
    }, "primary");
    put(forecast, h("h2", {}, t("audit.forecast")), h("p", {}, expectation(found.price)), h("p", { class: "hint" }, found.price.because), start);
    forecast.hidden = false;
    forecast.focus();
  }
}

export function auditView(main, id) {
  document.title = `Fathom · ${t("nav.audit")}`;
  const about = h("div", {});
  const told = h("div", {});
  const found = h("div", {});
  main.append(h("div", { class: "column wide audit" }, h("h1", {}, t("audit.title")), about, told, found));
  let timer = 0;

  async function load() {
    clearTimeout(timer);
    try {
      const audit = await get(`audits/${id}`, { language });
      paint(audit);
      if (audit.is_working) timer = setTimeout(load, GLANCE_MS);
    } catch (error) {
      told.replaceChildren(refusal(error.message));
      if (!error.status) timer = setTimeout(load, GLANCE_MS);
    }
  }

  function paint(audit) {
    const { last, result } = audit;
    show(about, [audit.is_working, audit.problem, last], () => [
      audit.is_working ? progress(last) : null,
      audit.problem ? refusal(audit.problem) : null,
      audit.is_working ? button(t("audit.stop"), (event) => act(event.currentTarget, told, () => post(`audits/${id}/stop`))) : null]);
    if (!result) return;
    show(found, result.id, () => [summary(id, audit), report(result), sources(result)]);
    say(audit.summary[0]);
  }

  load();
  return () => clearTimeout(timer);
}

function progress(last) {
  const words = last ? t(`audit.event.${last.kind}`) : t("audit.event.started");
  return h("div", { class: "card" },
    h("p", { class: "now-line", role: "status" }, last?.total ? `${words} · ${last.done} / ${last.total}` : words),
    h("progress", { "aria-label": words, max: last?.total || 1, value: last?.total ? last.done : null }),
    last ? h("p", { class: "hint" }, [last.what === "-" ? "" : last.what, last.usd ? usd(last.usd) : ""].filter(Boolean).join(" · ")) : null);
}

function summary(id, { summary: told, counts, result }) {
  const isByRules = result.decided_by === "strict rules"; // the last line says so
  const lines = isByRules ? told.slice(0, -1) : told;
  const open = (verdict) => () => {
    const all = [...document.querySelectorAll(`.statements .${verdict.replaceAll(" ", "-")}`)];
    const next = all[(all.findLastIndex((one) => one.open) + 1) % all.length];
    next.open = true;
    next.querySelector("summary").focus();
  };
  return h("section", { class: "card audit-summary" }, h("h2", {}, result.title || t("audit.summary")),
    h("p", { class: "lead-line" }, lines[0]), h("ul", {}, lines.slice(1).map((line) => h("li", {}, line))),
    isByRules ? h("p", { class: "hint" }, t("audit.caveat")) : null,
    h("ul", { class: "legend", "aria-label": t("audit.counts") }, VERDICTS.filter((one) => counts[one]).map((one) => h("li", {},
      button(`${name(one)} ${counts[one]}`, open(one), css(one), { title: t("audit.next") })))),
    h("div", { class: "row" }, ["html", "json"].map((kind) => h("a", { class: "button", href: `api/audits/${id}/export/${kind}`, download: "" }, t("audit.export", { kind: kind.toUpperCase() })))));
}

function report(result) {
  const statements = new Map(result.statements.map((one) => [one.id, one]));
  const verdicts = new Map(result.verdicts.map((one) => [one.statement, one]));
  const read = new Map(result.sources.map((one) => [one.source.id, one]));
  const block = ({ kind, text, statements: ids }) => {
    if (kind === "heading") return h("h3", {}, text);
    if (!ids.length) return h(kind === "code" ? "pre" : "div", { class: kind, tabindex: kind === "code" ? 0 : null }, text);
    return h("div", { class: kind }, ids.map((one) => statement(statements.get(one), verdicts.get(one), read)));
  };
  return h("section", { class: "statements", lang: result.language }, h("h2", { lang: language }, t("audit.report")), h("p", { class: "hint", lang: language }, t("audit.report.hint")), withoutTitle(result).map(block));
}

// The summary has the report's title already.
function withoutTitle({ blocks, title }) {
  const [first, ...rest] = blocks;
  return first?.kind === "heading" && first.text === title ? rest : blocks;
}

function statement({ text }, verdict, read) {
  if (!verdict) return h("p", { class: "apart" }, text);
  const source = read.get(verdict.source);
  return h("details", { class: css(verdict.verdict) },
    h("summary", {}, h("span", { class: "tag", lang: language }, name(verdict.verdict)), " ", text),
    h("div", { class: "finding", lang: language },
      verdict.reason ? h("p", {}, verdict.reason) : null,
      quoted("audit.quote", verdict.quote, source?.title || source?.source.label, source?.read_at),
      quoted("audit.nearest", verdict.nearest, source?.title || source?.source.label, source?.read_at),
      !verdict.quote && !verdict.nearest && source?.source.address ? h("p", {}, address(source.source.address)) : null,
      verdict.correction ? quoted(`audit.found.${verdict.correction.verdict}`, verdict.correction.quote, verdict.correction.title, verdict.correction.address) : null,
      verdict.notes.map((note) => h("p", { class: "hint" }, note)),
      h("p", { class: "hint" }, t("audit.by", { by: word("audit.by", verdict.by) }))));
}

function quoted(lead, quote, title, at) {
  if (!quote) return null;
  return h("div", {}, h("p", { class: "label" }, t(lead)), h("blockquote", {}, quote.text),
    h("p", { class: "hint" }, quote.heading.startsWith(title) ? quote.heading : [title, quote.heading].filter(Boolean).join(" · "), at ? [" · ", address(at)] : null));
}

function sources(result) {
  if (!result.sources.length) return null;
  return h("section", { class: "sources" }, h("h2", {}, t("audit.sources")), h("ol", {}, result.sources.map((one) => h("li", {},
    h("span", { class: "source-title" }, one.title || one.source.label || one.source.id),
    h("span", { class: "meta" }, word("audit.source", one.status), one.why ? `: ${one.why}` : "", one.source.address ? [" · ", address(one.source.address)] : null)))));
}
