// Read: the report as it grows, then whole; every citation opens the quote in its passage.

import { get } from "./api.js";
import { address, button, h, inline, put, show } from "./dom.js";
import { goOn } from "./goon.js";
import { day, span, t, usd, word } from "./texts.js";

const CHANGED = new Set(["section rewritten", "section new"]);

export function readView(body, run) {
  const place = h("div", { class: "read" });
  body.append(place);
  let asked = "";
  let result = null;
  let error = "";
  const load = async () => {
    asked = run.info.status;
    try {
      result = await get(`runs/${run.id}/result`);
      error = "";
    } catch (problem) {
      error = problem.message;
    }
    paint();
  };
  const paint = () => {
    if (result) {
      show(place, [result.run_id, result.status], () => [whole(run, result), goOn(run, result)]);
      return;
    }
    const { model, drafts } = run;
    show(place, [model.parts, model.sections, drafts, run.isWorking, error], () => growing(run, error));
  };
  return () => {
    if (run.isOver && !run.isWorking && asked !== run.info.status) load();
    paint();
  };
}

function growing({ model, drafts, isWorking }, error) {
  const titles = [...new Set([...model.parts, ...Object.keys(drafts)])];
  if (!titles.length) return h("p", { class: "empty" }, error || (isWorking ? t("read.coming") : t("read.none")));
  return h("article", { class: "report", "aria-busy": "true" }, h("p", { class: "note" }, t("read.growing")), titles.map((title) => {
    const part = model.sections[title] ?? (drafts[title] ? { text: drafts[title], isChecked: false } : null);
    return h("section", { class: part?.isChecked ? "checked" : "draft" }, h("h2", {}, title),
      part ? paragraphs(part.text) : h("p", { class: "hint" }, t("read.waiting")),
      part && !part.isChecked ? h("p", { class: "hint" }, t("read.unchecked")) : null);
  }));
}

// A draft by its lines; those with bars between their words are rows of a table.
function paragraphs(text) {
  const made = [];
  for (const line of text.split("\n")) {
    const cells = line.split(" | ");
    if (cells.length < 2) made.push(h("p", {}, inline(line)));
    else {
      if (made.at(-1)?.tagName !== "TABLE") made.push(h("table", {}));
      made.at(-1).append(h("tr", {}, cells.map((cell) => h("td", {}, inline(cell)))));
    }
  }
  return made;
}

// Everything that a sentence leads to, found by ids.
function makeIndex(result) {
  const claims = new Map(result.claims.map((claim) => [claim.id, claim]));
  const cited = new Map();
  for (const citation of result.citations) {
    for (const quote of citation.quotes) cited.set(`${quote.page} ${quote.start} ${quote.end}`, citation);
  }
  const findings = new Map(result.findings.flatMap((finding) => finding.claims.map((id) => [id, finding])));
  const disputes = result.contradictions.filter((one) => !one.settled_by).map((one) => one.sides.map((side) => new Set(side.claims)));
  const titles = new Map(result.sources.map((page) => [page.sha, page]));
  return { claims, cited, findings, disputes, titles, signs: new Set(result.signs), isJudged: result.kind !== "extracts" };
}

// A conclusion is called one where its words do not say so; the server knows where.
const noted = (text) => text.replace(/[.!?。]*$/, (end) => ` ${t("read.inference.note")}${end}`);

function legend({ disputes }) {
  return disputes.length ? h("p", { class: "hint" }, `‡ ${t("read.disputed.meaning")}`) : null;
}

function claimsOf(sentence) {
  return [...new Set([...sentence.claims, ...(sentence.calculation?.operands ?? []).map((one) => one.claim)])];
}

// The evidence of a sentence by the number of its source.
function evidenceOf(ids, index) {
  const found = new Map();
  for (const id of ids) {
    for (const quote of index.claims.get(id)?.quotes ?? []) {
      const citation = index.cited.get(`${quote.page} ${quote.start} ${quote.end}`);
      if (!citation) continue;
      const held = found.get(citation.number) ?? { citation, quotes: [] };
      if (!held.quotes.some((one) => one.quote.start === quote.start && one.quote.end === quote.end)) held.quotes.push({ quote, claim: id });
      found.set(citation.number, held);
    }
  }
  return [...found.values()].sort((one, two) => one.citation.number - two.citation.number);
}

function whole(run, result) {
  const index = makeIndex(result);
  const drawer = makeDrawer(run, index);
  const isExtracts = result.kind === "extracts";
  const title = isExtracts ? "" : /^# (.+)$/m.exec(result.report)?.[1] ?? result.question;
  const changed = new Set((result.update?.changes ?? []).filter((one) => CHANGED.has(one.kind)).map((one) => one.what));
  const shown = result.sections.filter((section) => section.sentences.length);
  const report = h("article", { class: "report", lang: /[가-힣]/.test(result.report) ? "ko" : null },
    title ? h("h2", { class: "report-title" }, title) : null,
    h("p", { class: "byline" }, t("read.basis", { n: result.citations.length, rounds: result.metadata?.rounds ?? 0 })),
    isExtracts ? h("p", { class: "note" }, t("read.extracts")) : null,
    changes(result.update),
    result.citations.length ? null : h("p", { class: "note" }, t("read.nothing")),
    shown.map((section, at) => [sectionOf(section, index, drawer, changed, run, result), at ? null : legend(index)]),
    disputes(result, index, drawer), findings(result, index, drawer), sources(result, index, drawer), rejected(result, index), figures(result),
    drawer.element);
  return [report, contents(report)];
}

// The way to each part, beside the report where there is room.
function contents(report) {
  const parts = [...report.querySelectorAll(":scope > section[id]")];
  if (parts.length < 4) return null;
  return h("nav", { class: "contents", "aria-label": t("read.contents") }, h("p", { class: "label" }, t("read.contents")),
    h("ul", {}, parts.map((part) => h("li", {}, h("a", { href: `#${part.id}`, onclick: jump }, part.querySelector("h2")?.firstChild.textContent ?? "")))));
}

function changes(update) {
  if (!update) return null;
  const told = update.changes.filter((one) => one.kind !== "section untouched");
  return h("section", { class: "card changes" }, h("h2", {}, t("read.changes", { day: day(update.since) })),
    told.length ? h("ul", {}, told.map((one) => h("li", {}, h("strong", {}, word("change", one.kind)), ": ", one.what, one.why ? ` (${one.why})` : "")))
      : h("p", {}, t("read.unchanged")));
}

function sectionOf(section, index, drawer, changed, run, result) {
  const blocks = section.blocks.length ? section.blocks : [{ kind: section.is_list ? "bullets" : "paragraph", title: "", columns: [] }];
  const isChanged = changed.has(section.title);
  const isNamed = section.title && section.title !== result.question;
  return h("section", { class: `part ${section.kind}${isChanged ? " changed" : ""}`, id: isNamed ? `part-${section.id}` : null, tabindex: -1 },
    isNamed ? h("h2", {}, index.signs.has(section.id) ? noted(section.title) : section.title, isChanged ? h("span", { class: "tag changed" }, t("read.changed")) : null) : null,
    blocks.map((block, place) => {
      const own = section.sentences.map((one, at) => ({ ...one, isSigned: index.signs.has(`${section.id}/${at}`) })).filter((one) => Math.min(one.block, blocks.length - 1) === place);
      const signed = block.columns.map((_, column) => index.signs.has(`${section.id}:${place}:${column}`));
      return own.length ? [blockOf(block, own, index, drawer, signed), chartsOf(section, place, drawer, run, result)] : null;
    }));
}

// Pictures of a table's verified figures, drawn by the server, with their sources.
function chartsOf(section, place, drawer, run, result) {
  return (result.charts ?? []).map((chart, number) => [chart, number]).filter(([chart]) => chart.section === section.id && chart.block === place).map(([chart, number]) =>
    h("figure", { class: "chart" }, chartPicture(`api/runs/${run.id}/chart/${number}`, chart.description),
      h("figcaption", {}, t("read.chart", { title: chart.title }),
        result.citations.filter((one) => chart.cited.includes(one.number)).map((one) => mark({ citation: one, quotes: quotesOf(one, result) }, null, drawer)))));
}

// The server draws it for narrow windows and for the dark as well.
function chartPicture(place, alt) {
  const [narrow, dark] = ["(max-width: 40rem)", "(prefers-color-scheme: dark)"];
  const ways = [[`${narrow} and ${dark}`, "?narrow&dark"], [narrow, "?narrow"], [dark, "?dark"]];
  return h("picture", {}, ways.map(([media, words]) => h("source", { media, srcset: place + words })), h("img", { src: place, alt }));
}

function quotesOf(citation, result) {
  return citation.quotes.map((quote) => ({ quote, claim: claimWith(quote, result) }));
}

function blockOf(block, sentences, index, drawer, signed) {
  const make = (one) => sentenceOf(one, index, drawer);
  const heading = block.title && block.kind !== "table" ? h("h3", {}, block.title) : null;
  if (block.kind === "table") return tableOf(block, sentences, index, drawer, signed);
  if (block.kind === "bullets") return [heading, h("ul", {}, sentences.map((one) => h("li", {}, make(one))))];
  if (block.kind === "numbered") return [heading, h("ol", {}, sentences.map((one) => h("li", {}, make(one))))];
  if (block.kind === "extract") return [heading, h("blockquote", {}, sentences.map((one) => h("p", {}, make(one))))];
  return [heading, h("p", {}, sentences.map((one) => [make(one), " "]))];
}

// Where all cells rest on the same sources, the table has their marks once, behind its title.
function tableOf(block, sentences, index, drawer, signed) {
  const all = evidenceOf(sentences.flatMap(claimsOf), index);
  const isShared = Boolean(block.title) && sentences.every((one) => {
    const own = evidenceOf(claimsOf(one), index);
    return !own.length || (one.kind === "fact" && own.length === all.length);
  });
  const make = (one) => sentenceOf(one, index, drawer, isShared);
  const rows = new Map();
  for (const one of sentences) {
    const cells = rows.get(one.row ?? 0) ?? [];
    (cells[one.column ?? 0] ??= []).push(one);
    rows.set(one.row ?? 0, cells);
  }
  const full = [...rows].filter(([, cells]) => cells.some((cell) => cell?.some((one) => one.status !== "connective"))).sort(([a], [b]) => a - b);
  const width = Math.max(block.columns.length, ...full.map(([, cells]) => cells.length));
  const names = block.columns.map((name, at) => (signed[at] ? noted(name) : name));
  const label = (at) => (width > 3 && at ? names[at] : null);
  return h("div", { class: "table", role: "region", tabindex: 0, "aria-label": block.title || t("read.table") }, h("table", { class: width > 3 ? "stacked" : null },
    block.title ? h("caption", {}, block.title, isShared ? all.map((one) => mark(one, null, drawer)) : null) : null,
    block.columns.length ? h("thead", {}, h("tr", {}, names.map((name) => (name ? h("th", { scope: "col" }, name) : h("td", {}))))) : null,
    h("tbody", {}, full.map(([, cells]) => h("tr", {}, Array.from({ length: width }, (_, at) => h("td", { "data-label": label(at) }, (cells[at] ?? []).map((one) => [make(one), " "]))))))));
}

function sentenceOf(sentence, index, drawer, isMarkedAbove = false) {
  const evidence = sentence.status === "supported" ? evidenceOf(claimsOf(sentence), index) : [];
  const isInference = sentence.kind === "inference" && evidence.length;
  const isUnsupported = sentence.status === "unsupported" || (sentence.status === "supported" && !evidence.length);
  const isDisputed = evidence.length > 0 && index.disputes.some((sides) => isOneSided(sentence, sides));
  const marks = isMarkedAbove ? [] : evidence.map((one) => mark(one, sentence, drawer));
  if (isDisputed) marks.push(h("a", { class: "sign", href: "#disputes", title: t("read.disputed"), "aria-label": t("read.disputed"), onclick: jump }, "‡"));
  const text = sentence.isSigned ? noted(sentence.text) : sentence.text;
  // The last word and its marks stay on one line.
  const [, start, end] = /^(.*\s)?([^\s*`]*)$/s.exec(text) ?? [null, text, ""];
  return h("span", { class: isInference ? "sentence inference" : "sentence" }, inline(start ?? ""),
    h("span", { class: "end" }, end, marks.slice(0, 6)), marks.slice(6),
    isUnsupported ? h("span", { class: "unsupported" }, t("read.unsupported")) : null);
}

// A sentence that tells both sides of a dispute is fair as it is.
function isOneSided(sentence, sides) {
  const told = sides.map((side) => sentence.claims.some((id) => side.has(id)));
  return told.includes(true) && told.includes(false);
}

// Addresses after the # are views: a jump within one is made by hand.
function jump(event) {
  event.preventDefault();
  const target = document.getElementById(event.currentTarget.getAttribute("href").slice(1));
  target?.scrollIntoView();
  target?.focus();
}

function mark(evidence, sentence, drawer) {
  const { citation } = evidence;
  return h("button", {
    type: "button", class: "cite", "aria-haspopup": "dialog", "aria-label": t("read.cite", { n: citation.number, title: citation.title }),
    title: citation.title, onclick: () => drawer.open(evidence, sentence),
  }, String(citation.number));
}

function surety(claim, index) {
  const finding = index.findings.get(claim);
  if (!finding) return null;
  return h("p", { class: "surety" }, h("span", { class: `tag ${finding.tag.toLowerCase()}` }, word("tag", finding.tag)), " ", word("tag_meaning", finding.tag),
    finding.independent_sources.length > 1 ? h("span", { class: "hint" }, ` · ${t("read.voices", { n: finding.independent_sources.length })}: ${finding.independent_sources.join(", ")}`) : null);
}

function makeDrawer(run, index) {
  const content = h("div", { class: "drawer-body" });
  const close = h("button", { type: "button", class: "quiet close", "aria-label": t("close") }, "×");
  const element = h("dialog", { class: "drawer", "aria-label": t("read.evidence") }, close, content);
  close.addEventListener("click", () => element.close());
  element.addEventListener("click", (event) => event.target === element && element.close());
  return { element, open };

  function open({ citation, quotes }, sentence) {
    const page = index.titles.get(citation.page);
    put(content,
      h("p", { class: "hint" }, t("read.source", { n: citation.number })),
      h("h2", {}, citation.title || citation.address),
      h("p", { class: "meta" }, [citation.publisher, page?.author, citation.published ? t("read.published", { day: day(citation.published) }) : t("read.undated"),
        t("read.fetched", { day: day(citation.fetched) })].filter(Boolean).join(" · ")),
      h("p", {}, address(citation.address)),
      citation.is_primary ? h("p", { class: "hint" }, t("read.primary")) : null,
      citation.gone ? h("p", { class: "hint warn" }, t("read.gone")) : null,
      sentence?.calculation ? calculation(sentence.calculation) : null,
      quotes.map(({ quote, claim }) => passage(quote, claim)));
    element.showModal();
  }

  function passage(quote, claim) {
    const text = h("blockquote", { class: "passage" }, h("mark", {}, quote.text));
    get(`runs/${run.id}/passage`, { page: quote.page, start: quote.start, end: quote.end }).then((found) => {
      const around = (words) => h("span", { class: "around" }, words.replace(/^#+ /gm, "").replace(/\n{3,}/g, "\n\n"));
      const quoted = h("mark", {}, found.quote);
      text.replaceChildren(around(found.before), quoted, around(found.after));
      text.scrollTop = quoted.offsetTop - text.offsetTop - text.clientHeight / 3;
    }).catch((error) => text.append(h("p", { class: "hint" }, error.message)));
    const statement = index.claims.get(claim);
    const verdict = statement?.verdict;
    return h("section", { class: "quote" }, quote.heading ? h("p", { class: "hint" }, quote.heading) : null, text,
      statement && statement.statement !== quote.text ? h("p", { class: "claim" }, h("strong", {}, t("read.claim")), " ", statement.statement) : null,
      index.isJudged ? surety(claim, index) : null,
      verdict && index.isJudged ? h("p", { class: "hint" }, t("read.verdict", { score: verdict.score.toFixed(2) }), verdict.reason ? ` · ${verdict.reason}` : "") : null);
  }
}

function calculation({ formula, operands, result }) {
  const values = new Map(operands.map((one) => [one.name, one.value]));
  const filled = formula.replace(/[A-Za-z_]\w*/g, (name) => values.get(name) ?? name);
  return h("p", { class: "note" }, t("read.calculation"), " ", h("strong", {}, `${filled} = ${result}`));
}

function disputes(result, index, drawer) {
  if (!result.contradictions.length) return null;
  const side = (one) => {
    const evidence = evidenceOf(one.claims, index);
    const quote = index.claims.get(one.claims[0])?.quotes[0];
    return [h("q", {}, quote?.text ?? one.value), evidence.map((held) => mark(held, null, drawer))];
  };
  const rows = result.contradictions.flatMap((one) => one.sides.map((held, place) => h("tr", { class: place ? "" : "first" },
    place ? null : h("th", { scope: "rowgroup", rowspan: one.sides.length }, one.about),
    h("td", {}, held.value), h("td", {}, side(held)), h("td", { class: "when" }, held.published.map((text) => (text ? day(text) : t("read.undated"))).join(", ")),
    place ? null : h("td", { rowspan: one.sides.length }, one.settled_by ? word("settled", one.settled_by) : t(one.is_certain === false ? "read.perhaps" : "read.open")))));
  return h("section", { class: "disputes", id: "disputes", tabindex: -1 }, h("h2", {}, t("read.disputes")),
    h("div", { class: "table", role: "region", tabindex: 0, "aria-label": t("read.disputes") }, h("table", {},
      h("thead", {}, h("tr", {}, ["about", "says", "quote", "when", "settled"].map((name) => h("th", { scope: "col" }, t(`dispute.${name}`))))),
      h("tbody", {}, rows))));
}

function findings(result, index, drawer) {
  if (result.kind === "extracts" || !result.findings.length) return null;
  const used = new Set(result.sections.flatMap((section) => section.sentences.flatMap(claimsOf)));
  const shown = result.findings.filter((one) => one.claims.some((id) => used.has(id)));
  return h("details", { class: "fold" }, h("summary", {}, h("h2", {}, t("read.findings", { n: shown.length }))),
    h("ul", { class: "findings" }, shown.map((one) => h("li", {}, h("span", {}, one.statement, evidenceOf(one.claims, index).map((held) => mark(held, null, drawer))), surety(one.claims[0], index)))));
}

function sources(result, index, drawer) {
  if (!result.citations.length) return null;
  const repeats = independence(result);
  return h("section", { class: "sources", id: "sources", tabindex: -1 }, h("h2", {}, t("read.sources")), h("ol", {}, result.citations.map((one) => h("li", { value: one.number },
    h("span", { class: "source-title" }, one.title || one.address),
    h("span", { class: "meta" }, [one.publisher, one.published ? day(one.published) : t("read.undated"), t("read.fetched", { day: day(one.fetched) }), one.is_primary ? t("read.primary") : "",
      repeats.get(one.number) ?? (result.citations.length > 1 ? t("read.independent") : "")].filter(Boolean).join(" · ")),
    h("span", { class: "row" }, address(one.address),
      button(t("read.quotes", { n: one.quotes.length }), () => drawer.open({ citation: one, quotes: quotesOf(one, result) }, null), "quiet"))))));
}

function claimWith(quote, result) {
  return result.claims.find((claim) => claim.quotes.some((one) => one.page === quote.page && one.start === quote.start && one.end === quote.end))?.id;
}

// Sources that say the same without being independent of each other: the finding has fewer of them than pages.
function independence(result) {
  const numbers = new Map(result.citations.map((one) => [one.page, one.number]));
  const claims = new Map(result.claims.map((claim) => [claim.id, claim]));
  const found = new Map();
  for (const finding of result.findings) {
    const pages = [...new Set(finding.claims.flatMap((id) => (claims.get(id)?.quotes ?? []).map((quote) => numbers.get(quote.page))).filter(Boolean))];
    if (pages.length < 2 || finding.independent_sources.length >= pages.length) continue;
    for (const number of pages) {
      const others = pages.filter((one) => one !== number).map((one) => `[${one}]`).join(" ");
      found.set(number, t("read.dependent", { others, n: finding.independent_sources.length, of: pages.length }));
    }
  }
  return found;
}

function rejected(result, index) {
  if (!result.rejected.length) return null;
  const count = result.rejected.reduce((sum, one) => sum + one.count, 0);
  const parts = new Map(result.sections.map((section) => [section.id, section.title]));
  return h("details", { class: "fold" }, h("summary", {}, h("h2", {}, t("read.rejected", { n: count }))),
    h("p", { class: "hint" }, t("read.rejected.why")),
    h("ul", { class: "refused" }, result.rejected.map((one) => h("li", {}, h("span", {}, one.statement || t("watch.unnamed", { n: one.count })),
      h("span", { class: "hint" }, [word("reason", one.why), one.reason, (parts.get(one.section) ?? one.section) || index.titles.get(one.page)?.title].filter(Boolean).join(" · "))))));
}

function figures(result) {
  const told = result.metadata;
  if (!told) return null;
  const rows = {
    rounds: told.rounds, queries: told.queries, pages: told.sources, claims: told.claims, calls: told.model_calls,
    tokens: `${told.tokens_in.toLocaleString()} / ${told.tokens_out.toLocaleString()}`, cost: told.is_priced ? usd(told.cost_usd) : t("price.unknown"),
    time: span(told.duration_s), score: told.score.toFixed(2), stop: [word("stop", told.stop), told.because].filter(Boolean).join(": "),
  };
  const lost = result.errors.length ? [h("h3", {}, t("read.lost")), h("ul", {}, result.errors.map((one) => h("li", {}, `${one.where}: ${one.what} (${one.why})`)))] : null;
  return h("details", { class: "fold" }, h("summary", {}, h("h2", {}, t("read.figures"))),
    h("dl", { class: "lines" }, Object.entries(rows).flatMap(([name, value]) => [h("dt", {}, t(`figure.${name}`)), h("dd", {}, String(value))])), lost);
}

