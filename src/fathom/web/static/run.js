// One run: its question, where it stands, and the three views of it. Hears the run's events for all of them.

import { get, listen, post } from "./api.js";
import { act, button, h, say, show } from "./dom.js";
import { hear, newModel } from "./model.js";
import { planView } from "./plan.js";
import { readView } from "./read.js";
import { t, word } from "./texts.js";
import { watchView } from "./watch.js";

const OVER = new Set(["complete", "partial", "unsure", "failed", "extracts"]);
const TABS = { plan: planView, watch: watchView, read: readView };

export function runView(main, id, wished) {
  const run = {
    id, tab: "", info: null, model: newModel(), drafts: {}, isWorking: false, problem: "", isLinked: true,
    get isOver() { return OVER.has(this.info?.status); },
    get isDemo() { return (this.info?.config?.model ?? "").startsWith("recorded:"); },
    refresh, go,
  };
  let views = {};
  let pending = 0;
  let stopListening = () => {};
  let isGone = false;
  const title = h("h1", { class: "question" }, "…");
  const status = h("p", { class: "standing" });
  const demo = h("div", { class: "banner" });
  const banner = h("div", { class: "banner" });
  const tabs = h("nav", { class: "tabs", "aria-label": t("run.views") });
  const body = h("div", { class: "view" });
  const page = h("div", { class: "run" }, h("div", { class: "run-head" }, title, status, tabs), demo, banner, body);
  main.append(page);

  function go(tab) {
    location.hash = `#/run/${id}/${tab}`;
  }

  function open(tab) {
    if (run.tab === tab) return;
    run.tab = tab;
    views = {};
    body.replaceChildren();
    views.update = TABS[tab](body, run);
    update();
  }

  function update() {
    pending = 0;
    if (isGone) return;
    const { info, model } = run;
    const question = model.question || info?.question || "";
    document.title = `${question.slice(0, 60)} · Fathom`;
    show(title, question, () => question);
    const state = standing();
    show(status, [state, model.round, model.limit, run.isLinked], () => [
      h("span", { class: `pill ${state.replaceAll(" ", "-")}` }, word("status", state)),
      !run.isOver && !model.completed && model.round ? h("span", {}, t("run.round", { n: model.round, of: model.limit })) : null,
      run.isLinked ? null : h("span", { class: "warn" }, t("run.unlinked")),
    ]);
    show(tabs, [run.tab, Boolean(model.table)], () => Object.keys(TABS).map((name) =>
      h("a", { href: `#/run/${id}/${name}`, "aria-current": name === run.tab ? "page" : null }, t(`tab.${name}`),
        name === "plan" && model.table?.why === "review" && !run.isOver ? h("span", { class: "dot" }, h("span", { class: "hidden" }, t("run.waiting"))) : null)));
    show(demo, run.isDemo, () => (run.isDemo ? h("p", { class: "note recorded" }, h("strong", {}, t("demo.label")), " ", t("demo.note")) : null));
    showBanner(state);
    views.update?.();
  }

  // Where the run stands: what is heard is newer than what was asked for.
  function standing() {
    const { info, model } = run;
    if (run.isWorking) return "running";
    if (model.completed) return model.completed.status || info?.status || "complete";
    return info?.status || "running";
  }

  function showBanner(state) {
    const { model } = run;
    const why = run.problem || (model.failed && !run.isWorking ? model.failed.error : "");
    show(banner, [state, why, run.tab], () => {
      const told = h("div", {});
      const goOn = (event) => act(event.currentTarget, told, () => post(`runs/${id}/answer`));
      if (state === "stopped") {
        return h("div", { class: "notice" }, h("p", {}, why || t("run.stopped")), h("p", { class: "hint" }, t("run.kept")),
          h("div", { class: "row" }, button(t("run.go_on"), goOn, "primary"), finishButton(told)), told);
      }
      if (state === "paused") {
        return h("div", { class: "notice" }, h("p", {}, t("run.paused")),
          h("div", { class: "row" }, button(t("run.go_on"), goOn, "primary"), finishButton(told)), told);
      }
      if (state === "waiting for review" && run.tab !== "plan") {
        return h("div", { class: "notice" }, h("p", {}, t("run.waiting")), h("a", { class: "button primary", href: `#/run/${id}/plan` }, t("run.see_plan")));
      }
      return why ? h("div", { class: "notice warn" }, h("p", {}, why)) : null;
    });
  }

  function finishButton(told) {
    return button(t("plan.finish"), (event) => act(event.currentTarget, told, () => post(`runs/${id}/control`, { word: "stop" })));
  }

  async function refresh() {
    try {
      run.info = await get(`runs/${id}`);
      run.isWorking = run.info.is_here;
    } catch (error) {
      if (!run.info) page.replaceChildren(h("div", { class: "column" }, h("h1", {}, t("run.missing")), h("p", { role: "alert" }, error.message), h("a", { class: "button", href: "#/history" }, t("nav.history"))));
      return;
    }
    schedule();
  }

  function schedule() {
    pending ||= requestAnimationFrame(update);
  }

  // Whoever came to see the run work is taken along; whoever looks at one of its views stays there.
  const isFollowing = () => !wished || !run.isReplaying;

  async function settle(kind) {
    await refresh();
    if (isGone) return;
    if (kind === "completed") {
      say(t("say.completed"));
      if (run.tab !== "read" && isFollowing()) go("read");
    } else if (run.info?.waits_for?.why === "review") {
      say(t("run.waiting"));
      if (run.tab === "watch" && isFollowing()) go("plan");
    }
  }

  function start() {
    run.isReplaying = true;
    stopListening = listen(id, {
      event(event) {
        hear(run.model, event);
        run.last = event.kind;
        if (event.kind === "report started" && run.tab === "watch" && !run.isReplaying) go("read");
        schedule();
      },
      async standing(told) {
        const wasWorking = run.isWorking;
        run.isWorking = told.is_working;
        run.problem = told.problem;
        const isFirst = run.isReplaying;
        if (!told.is_working) {
          run.isReplaying = isFirst && !wasWorking;
          await settle(run.last === "completed" ? "completed" : "");
        }
        run.isReplaying = false;
        schedule();
      },
      drafts(told) {
        run.drafts = told;
        schedule();
      },
      link(isThere) {
        run.isLinked = isThere;
        if (isThere) refresh();
        schedule();
      },
    });
  }

  const onTab = (event) => open(event.detail || "watch");
  main.addEventListener("tab", onTab);
  const ticking = setInterval(() => {
    if (run.info && !run.isWorking && run.info.status === "running") refresh(); // another process works on it
  }, 3000);
  refresh().then(() => {
    if (isGone || !run.info) return;
    const first = run.isOver ? "read" : run.info.waits_for?.why === "review" ? "plan" : "watch";
    open(TABS[wished] ? wished : first);
    if (run.info.has_events !== false) start();
  });
  return () => {
    isGone = true;
    clearInterval(ticking);
    stopListening();
    main.removeEventListener("tab", onTab);
  };
}
