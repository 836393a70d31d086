// History: every run of the database, found by words; and two of them side by side.

import { get, post } from "./api.js";
import { batchList } from "./batches.js";
import { act, address, button, h, show } from "./dom.js";
import { moment, paid, t, usd, word } from "./texts.js";

export function historyView(main) {
  document.title = `Fathom · ${t("nav.history")}`;
  const search = h("input", { type: "search", "aria-label": t("history.search"), placeholder: t("history.search") });
  const list = h("ul", { class: "history" });
  const compare = h("a", { class: "button", hidden: true }, t("history.compare"));
  const hint = h("p", { class: "hint", hidden: true }, t("history.tick"));
  const picked = [];
  let timer = 0;
  main.append(h("div", { class: "column wide" }, h("h1", {}, t("nav.history")), h("div", { class: "row between" }, search, compare), hint, list, batchList()));

  async function load() {
    try {
      const runs = await get("runs", search.value.trim() ? { search: search.value.trim() } : {});
      hint.hidden = runs.length < 2 || picked.length === 2;
      show(list, runs, () => (runs.length ? runs.map(item) : h("li", { class: "empty" }, t(search.value ? "history.no_match" : "history.none"), search.value ? null : [" ", h("a", { href: "#/" }, t("nav.ask"))])));
    } catch (error) {
      list.replaceChildren(h("li", { role: "alert" }, error.message));
    }
  }

  function item(run) {
    const kin = kinOf(run);
    return h("li", {},
      h("input", { type: "checkbox", "aria-label": t("history.pick", { question: run.question.slice(0, 60) }), checked: picked.includes(run.id), onchange: (event) => pick(run.id, event.target.checked) }),
      h("div", {}, h("a", { class: "history-question", href: `#/run/${run.id}` }, run.question || run.id),
        h("p", { class: "meta" }, h("span", { class: `pill ${run.status.replaceAll(" ", "-")}` }, word("status", run.status)),
          [moment(run.started), paid(run.cost_usd), t("history.rounds", { n: run.rounds })].filter(Boolean).join(" · "),
          kin.map(([name, id]) => h("a", { href: `#/run/${id}` }, t(`history.${name}`)))), tagsOf(run)));
  }

  function tagsOf(run) {
    const place = h("div", { class: "tags" });
    const told = h("div", {});
    const keep = (control, tags) => act(control, told, async () => {
      run.tags = (await post(`runs/${run.id}/tags`, { tags })).tags;
      paint();
    });
    const paint = () => place.replaceChildren(
      ...run.tags.map((tag) => h("span", { class: "chosen-tag" },
        button(`#${tag}`, () => find(`#${tag}`), "quiet", { "aria-label": t("tags.find", { tag }) }),
        button("×", (event) => keep(event.currentTarget, run.tags.filter((one) => one !== tag)), "quiet", { "aria-label": t("tags.remove", { tag }) }))),
      button(`+ ${t("tags.add")}`, edit, "quiet add-tag"), told);
    const edit = () => {
      const input = h("input", { type: "text", maxlength: 40, required: true, "aria-label": t("tags.add") });
      const send = h("button", {}, t("steer.add"));
      const form = h("form", { class: "row join", onsubmit: (event) => {
        event.preventDefault();
        keep(send, [...run.tags, input.value]);
      } }, input, send);
      place.querySelector(".add-tag").replaceWith(form);
      input.focus();
    };
    paint();
    return place;
  }

  function find(words) {
    search.value = words;
    load();
  }

  function pick(id, isPicked) {
    const place = picked.indexOf(id);
    if (isPicked && place < 0) picked.push(id);
    if (!isPicked && place >= 0) picked.splice(place, 1);
    compare.hidden = picked.length !== 2;
    hint.hidden = !compare.hidden;
    if (picked.length === 2) compare.setAttribute("href", `#/compare/${picked[1]}/${picked[0]}`);
  }

  search.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(load, 200);
  });
  load();
  return () => clearTimeout(timer);
}

const kinOf = (run) => ["updates", "follows", "forks"].filter((name) => run[name]).map((name) => [name, run[name]]);

export function compareView(main, first, second) {
  document.title = `Fathom · ${t("compare.title")}`;
  const place = h("div", { class: "column wide" }, h("h1", {}, t("compare.title")));
  main.append(place);
  Promise.all([get("compare", { first, second }), get(`runs/${first}`), get(`runs/${second}`)])
    .then(([found, ...runs]) => place.append(...comparison(found, runs).filter(Boolean)))
    .catch((error) => place.append(h("p", { class: "refusal", role: "alert" }, error.message)));
}

const plain = (value) => (value === null ? "–" : typeof value === "boolean" ? t(value ? "yes" : "no") : [value].flat().join(", "));

function comparison(found, runs) {
  const row = (name, one, two) => h("tr", { class: String(one) === String(two) ? "" : "differs" }, h("th", { scope: "row" }, name), h("td", {}, String(one)), h("td", {}, String(two)));
  const isSame = found.questions.first === found.questions.second;
  const head = ["first", "second"].map((side, place) => h("th", { scope: "col" }, h("a", { href: `#/run/${found.runs[side]}/read` }, t(`compare.${side}`)),
    isSame ? null : h("p", {}, found.questions[side] || found.runs[side]),
    h("p", { class: "meta" }, [moment(runs[place].started), ...kinOf(runs[place]).map(([name]) => t(`history.${name}`))].join(" · "))));
  const money = found.cost_usd;
  const held = (one) => `${word("tag", one.tag)} (${one.confidence.toFixed(2)})`;
  const findings = (title, list, kind) => (list.length ? h("section", { class: "card" }, h("h2", {}, `${title} (${list.length})`), h("ul", { class: kind }, list.map((one) => h("li", {}, one.statement, " ", h("span", { class: "hint" }, held(one)))))) : null);
  const sources = (title, list) => (list.length ? h("section", { class: "card" }, h("h2", {}, `${title} (${list.length})`), h("ul", { class: "pages" }, list.map((one) => h("li", {}, h("span", {}, one.title), address(one.address))))) : null);
  return [
    isSame ? h("p", { class: "lead" }, found.questions.first) : null,
    h("div", { class: "table", role: "region", tabindex: 0, "aria-label": t("compare.title") }, h("table", { class: "compare" }, h("thead", {}, h("tr", {}, h("td", {}), head)), h("tbody", {},
      row(t("compare.status"), word("status", found.statuses.first), word("status", found.statuses.second)),
      row(t("watch.rounds"), found.rounds.first, found.rounds.second),
      money.first || money.second ? row(t("figure.cost"), usd(money.first), usd(money.second)) : null,
      found.directions.first || found.directions.second ? row(t("compare.direction"), found.directions.first, found.directions.second) : null,
      Object.entries(found.settings).map(([name, pair]) => row(word("setting", name), plain(pair.first), plain(pair.second)))))),
    h("p", { class: "note" }, t("compare.same", { findings: found.same, sources: found.shared_sources })),
    findings(t("compare.added"), found.added, "added"), findings(t("compare.gone"), found.gone, "gone"),
    found.changed.length ? h("section", { class: "card" }, h("h2", {}, `${t("compare.changed")} (${found.changed.length})`), h("ul", {}, found.changed.map((pair) => h("li", {}, pair.second.statement, " ", h("span", { class: "hint" }, `${held(pair.first)} → ${held(pair.second)}`))))) : null,
    sources(t("compare.only_first"), found.sources.first), sources(t("compare.only_second"), found.sources.second),
  ];
}
