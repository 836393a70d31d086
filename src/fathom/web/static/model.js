// What is known of a run, from its events alone: the same after a reload, in a second tab, after a restart.

export function newModel() {
  return {
    question: "", config: null, rounds: [], node: "", done: [], score: null, threshold: null,
    spent: { usd: 0, budget_usd: 0, calls: 0 }, round: 0, limit: 0, elapsed: 0,
    hypotheses: [], gaps: [], outline: [], claims: [], refused: [], log: [],
    parts: [], sections: {}, isByWords: false, table: null, failed: null, completed: null, directions: [],
  };
}

function roundOf(model, number) {
  let found = model.rounds.find((round) => round.number === number);
  if (!found) {
    found = { number, plan: null, searches: [], pages: [], judgement: null };
    model.rounds.push(found);
  }
  return found;
}

function pageOf(round, told) {
  let found = round.pages.find((page) => page.address === told.address);
  if (!found) {
    found = { title: told.title, address: told.address, state: "chosen", chars: 0, claims: 0, rejected: 0, why: "" };
    round.pages.push(found);
  }
  found.title = told.title || found.title;
  return found;
}

const HEARD = {
  "started"(model, told) {
    model.question = told.question;
    model.config = told.run_config;
    model.failed = null;
    model.table = null;
    if (!told.is_resumed) model.node = "intake";
  },
  "effort sized"(model, told) {
    model.node = "planner";
    model.directions = told.directions;
    model.isByWords = told.is_by_words;
  },
  "plan generated"(model, told, round) {
    round.plan = told;
    model.node = "review";
  },
  "search started"(model, told, round) {
    if (!round.searches.some((one) => one.query === told.query)) {
      round.searches.push({ query: told.query, hits: null, engines: [], lost: [] });
    }
    model.node = "searcher";
  },
  "search completed"(model, told, round) {
    let one = round.searches.find((search) => search.query === told.query && search.hits === null);
    if (!one) {
      one = { query: told.query };
      round.searches.push(one);
    }
    Object.assign(one, { hits: told.hits, engines: told.engines ?? [], lost: told.lost ?? [] });
    model.node = round.searches.some((search) => search.hits === null) ? "searcher" : "selector";
  },
  "extraction started"(model, told, round) {
    told.pages.forEach((page) => pageOf(round, page));
    model.node = "reading";
  },
  "content extracted"(model, told, round) {
    const page = pageOf(round, told);
    page.chars = told.chars;
    page.state = told.chars ? "read" : "lost";
    page.why = told.lost.map((one) => one.why).join("; ");
    model.node = "reading";
  },
  "analysis started"(model, told, round) {
    pageOf(round, told).state = "analysed";
    model.node = "reading";
  },
  "analysis completed"(model, told, round) {
    const page = pageOf(round, told);
    Object.assign(page, { state: "done", claims: told.claims, rejected: told.rejected });
    for (const statement of told.statements ?? []) {
      if (!model.claims.some((one) => one.statement === statement && one.address === told.address)) {
        model.claims.push({ statement, title: told.title, address: told.address, round: round.number });
      }
    }
    for (const one of told.refused ?? []) {
      const entry = { why: one.why, statement: one.statement, reason: one.reason, count: one.count, title: told.title };
      if (!model.refused.some((other) => JSON.stringify(other) === JSON.stringify(entry))) model.refused.push(entry);
    }
    model.node = "reading";
  },
  "sufficiency evaluated"(model, told, round) {
    round.judgement = told.judgement;
    model.score = told.judgement.overall;
    model.threshold = told.threshold;
    model.node = "judge";
  },
  "round completed"(model, told, round) {
    const before = new Map(model.hypotheses.map((one) => [one.id, one.confidence]));
    model.hypotheses = told.hypotheses.map((one) => ({ ...one, was: before.get(one.id) ?? one.confidence }));
    model.gaps = told.gaps;
    model.outline = told.outline;
    model.node = round.judgement?.stop ? "writer" : "planner";
  },
  "branch completed"(model, told) {
    model.directions = model.directions.map((one) => (one.id === told.direction.id ? told.direction : one));
    model.node = "branches";
  },
  "report started"(model, told) {
    model.parts = told.sections;
    model.node = "writer";
  },
  "draft"(model, told) {
    if (!model.sections[told.title]?.isChecked) model.sections[told.title] = { text: told.text, isChecked: false };
    if (!model.parts.includes(told.title)) model.parts.push(told.title);
    model.node = "writer";
  },
  "report section"(model, told) {
    model.sections[told.title] = { text: told.sentences.join(" "), isChecked: true };
    if (!model.parts.includes(told.title)) model.parts.push(told.title);
  },
  "checkpoint"(model, told) {
    if (told.why === "round") return; // it goes on by itself
    model.table = told;
    if (told.why === "review") model.node = "review";
  },
  "completed"(model, told) {
    model.completed = told;
    model.node = "";
  },
  "failed"(model, told) {
    model.failed = told;
  },
};

export function hear(model, event) {
  HEARD[event.kind]?.(model, event.payload, roundOf(model, event.round));
  if (event.branch && model.node !== "writer") model.node = "branches";
  if (event.kind !== "started" || !model.spent.usd) model.spent = event.spent;
  if (!event.branch) Object.assign(model, { round: event.round, limit: event.limit });
  if (model.node) model.done = [...new Set([...model.done, model.node])];
  model.log.push({ kind: event.kind, at: event.at, round: event.round, branch: event.branch, payload: event.payload });
  if (model.log.length > 400) model.log.splice(0, 100);
}
