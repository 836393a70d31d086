// Requests to the server the page came from, and the stream of a run's events.

export class Refusal extends Error {
  constructor(status, words) {
    super(words);
    this.status = status;
  }
}

async function ask(path, options) {
  let answer;
  try {
    answer = await fetch(`api/${path}`, options);
  } catch {
    throw new Refusal(0, "The server cannot be reached.");
  }
  const told = await answer.json().catch(() => ({}));
  if (!answer.ok) {
    if (answer.status === 401 && path !== "login") dispatchEvent(new Event("locked"));
    throw new Refusal(answer.status, typeof told.detail === "string" ? told.detail : `HTTP ${answer.status}`);
  }
  return told;
}

export const get = (path, words = {}) => {
  const query = new URLSearchParams(words).toString();
  return ask(query ? `${path}?${query}` : path);
};

export const post = (path, body = {}) =>
  ask(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });

// Names this tab to the server: a thread of questions keeps the name of the tab that began it.
export function sessionId() {
  const known = sessionStorage.getItem("session") ?? `page-${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`;
  sessionStorage.setItem("session", known);
  return known;
}

export const upload = (file, folder) =>
  ask(`uploads?${new URLSearchParams({ name: file.name, folder })}`, {
    method: "PUT",
    headers: { "content-type": "application/octet-stream" },
    body: file,
  });

// Hears everything a run tells, also what it told before; takes up the thread by itself when the link breaks.
export function listen(id, hear) {
  let last = 0;
  let source = null;
  let timer = 0;
  let isOver = false; // the report is there: nothing follows, and the server ends the stream
  const open = () => {
    source = new EventSource(`api/runs/${id}/events?after=${last}`);
    source.onopen = () => hear.link(true);
    source.onmessage = (message) => {
      last = Number(message.lastEventId) || last;
      const told = JSON.parse(message.data);
      isOver = told.kind === "completed";
      hear.event(told);
    };
    source.addEventListener("standing", (message) => hear.standing(JSON.parse(message.data)));
    source.addEventListener("drafts", (message) => hear.drafts(JSON.parse(message.data)));
    source.onerror = () => {
      source.close();
      if (isOver) return;
      hear.link(false);
      clearTimeout(timer);
      timer = setTimeout(open, 700);
    };
  };
  open();
  return () => {
    clearTimeout(timer);
    source.close();
  };
}
