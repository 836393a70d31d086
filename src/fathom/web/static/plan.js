// Plan: what a round wants to find out and how, as lists that can be changed before it goes on.

import { post } from "./api.js";
import { act, button, h, say, show } from "./dom.js";
import { expectation, t } from "./texts.js";

export function planView(body, run) {
  const place = h("div", { class: "plan-view" });
  body.append(place);
  return () => {
    const table = !run.isWorking && run.info?.waits_for?.why === "review" ? run.info.waits_for.shown : null;
    const plans = run.model.rounds.filter((round) => round.plan);
    show(place, [table, table ? 0 : plans.map((round) => round.plan), run.isWorking], () => (table ? editor(run, table) : past(plans, run)));
  };
}

function past(plans, run) {
  if (!plans.length) return h("p", { class: "empty" }, run.isWorking ? t("plan.coming") : t("plan.none"));
  return plans.map(({ number, plan }) => h("section", { class: "card" },
    h("h2", {}, t("plan.round", { n: number })), h("p", {}, plan.strategy),
    h("h3", {}, t("plan.questions")), h("ol", {}, plan.questions.map((text) => h("li", {}, text))),
    h("h3", {}, t("plan.queries")), h("ul", { class: "queries" }, plan.queries.map((text) => h("li", {}, text)))));
}

function editor(run, shown) {
  const questions = list(t("plan.questions"), t("plan.question"), shown.questions, "ol");
  const queries = list(t("plan.queries"), t("plan.query"), shown.queries, "ul");
  const told = h("div", {});
  const words = h("textarea", { rows: 2, maxlength: 2000, "aria-label": t("plan.feedback") });
  const answer = (given) => (event) => {
    event.preventDefault();
    const control = event.submitter ?? event.currentTarget;
    return act(control, told, async () => {
      await post(`runs/${run.id}/answer`, given());
      say(t("say.heard"));
      run.isWorking = true;
      run.go("watch");
    });
  };
  const approve = () => {
    const isSame = JSON.stringify([questions.texts(), queries.texts()]) === JSON.stringify([shown.questions, shown.queries]);
    return isSame ? { action: "approve" } : { action: "edit", questions: questions.texts(), queries: queries.texts() };
  };
  const { forecast } = shown;
  return [
    h("form", { class: "plan", onsubmit: answer(approve) },
      h("p", { class: "lead" }, t("plan.lead", { n: shown.round })),
      h("p", { class: "strategy" }, shown.strategy),
      questions.element, queries.element,
      shown.waiting.length ? h("p", { class: "hint" }, t("plan.later", { queries: shown.waiting.join(" · ") })) : null,
      forecast.because && !run.isDemo ? h("p", { class: "hint" }, expectation(forecast)) : null,
      told, h("div", { class: "row send" }, h("button", { class: "primary big" }, t("plan.approve")),
        button(t("plan.finish"), answer(() => ({ action: "finish" })), "plain"))),
    h("form", { class: "card", onsubmit: answer(() => ({ action: "feedback", text: words.value })) },
      h("h2", {}, t("plan.feedback")), words, h("div", { class: "row" }, h("button", {}, t("plan.again")))),
    shown.findings.length || shown.gaps.length ? h("section", { class: "card" },
      h("h2", {}, t("plan.so_far")), h("p", {}, shown.summary),
      shown.findings.length ? h("ul", {}, shown.findings.map((text) => h("li", {}, text))) : null,
      shown.gaps.length ? [h("h3", {}, t("plan.gaps")), h("ul", {}, shown.gaps.map((text) => h("li", {}, text)))] : null,
      shown.outline.length ? [h("h3", {}, t("watch.outline")), h("ul", {}, shown.outline.map((text) => h("li", {}, text)))] : null) : null,
  ];
}

function list(title, label, texts, tag) {
  const items = h(tag, { class: "editable" });
  const renumber = () => [...items.children].forEach((item, place) => {
    item.querySelector("textarea").setAttribute("aria-label", `${label} ${place + 1}`);
    item.querySelector(".up").disabled = place === 0;
    item.querySelector(".down").disabled = place === items.children.length - 1;
  });
  const row = (text) => {
    const input = h("textarea", { rows: 1, maxlength: 500, value: text, onkeydown: (event) => event.key === "Enter" && event.preventDefault() });
    const item = h("li", {}, input, h("span", { class: "tools" },
      button("↑", () => { item.previousElementSibling?.before(item); moved(item, ".up"); }, "quiet up", { "aria-label": t("plan.up") }),
      button("↓", () => { item.nextElementSibling?.after(item); moved(item, ".down"); }, "quiet down", { "aria-label": t("plan.down") }),
      button("×", () => {
        const next = item.nextElementSibling ?? item.previousElementSibling;
        item.remove();
        renumber();
        (next?.querySelector("textarea") ?? more).focus();
        say(t("say.removed"));
      }, "quiet remove", { "aria-label": t("plan.remove") })));
    return item;
  };
  const moved = (item, name) => {
    renumber();
    const control = item.querySelector(name);
    (control.disabled ? item.querySelector("textarea") : control).focus();
    say(t("say.moved", { n: [...items.children].indexOf(item) + 1 }));
  };
  const more = button(`+ ${t("plan.add")}`, () => {
    items.append(row(""));
    renumber();
    items.lastElementChild.querySelector("textarea").focus();
  }, "quiet", { "aria-label": `${t("plan.add")}: ${title}` });
  items.append(...texts.map(row));
  renumber();
  return {
    element: h("section", { class: "list" }, h("h2", {}, title), items, more),
    texts: () => [...items.querySelectorAll("textarea")].map((input) => input.value.trim()).filter(Boolean),
  };
}
