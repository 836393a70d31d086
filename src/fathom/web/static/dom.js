// Makes elements. Text enters by textContent only; nothing here or elsewhere parses markup.

const PROPERTIES = new Set(["value", "checked", "disabled", "open", "selected", "hidden", "indeterminate"]);

export function h(tag, props, ...children) {
  return fill(document.createElement(tag), props, children);
}

export function svg(tag, props, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), props, children);
}

function fill(element, props, children) {
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (PROPERTIES.has(name)) element[name] = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...present(children));
  return element;
}

const present = (children) => children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);

// Replaces what stands in a place; lists are opened, and what is not there is left out.
export function put(place, ...children) {
  place.replaceChildren(...present(children));
}

// Shows children in a place only if what they are made from has changed: focus and selection survive.
export function show(place, data, make) {
  const key = JSON.stringify(data);
  if (place.dataset.key === key) return;
  place.dataset.key = key;
  put(place, make());
}

// A link to a page that was read; only addresses of the web can be followed.
export function address(text) {
  if (!/^https?:\/\//i.test(text)) return h("span", { class: "address", title: plain(text) }, plain(text).replace(/^file:.*?([^/]+\/[^/]+)$/, "$1"));
  return h("a", { class: "address", href: text, rel: "noreferrer noopener", target: "_blank" }, text);
}

// The name of a file as people write it.
function plain(text) {
  try {
    return text.startsWith("file:") ? decodeURI(text) : text;
  } catch {
    return text;
  }
}

// Bold and code of a sentence, as elements.
export function inline(text) {
  return text.split(/(\*\*[^*]+\*\*|`[^`]+`)/).map((part) => {
    if (part.length > 4 && part.startsWith("**") && part.endsWith("**")) return h("strong", {}, part.slice(2, -2));
    if (part.length > 2 && part.startsWith("`") && part.endsWith("`")) return h("code", {}, part.slice(1, -1));
    return part;
  });
}

export function say(words) {
  document.getElementById("say").textContent = words;
}

export function button(words, onclick, kind = "plain", more = {}) {
  return h("button", { type: "button", class: kind, onclick, ...more }, words);
}

export function field(label, control, hint) {
  return h("label", { class: "field" }, h("span", { class: "label" }, label), control, hint ? h("span", { class: "hint" }, hint) : null);
}

// Runs an action of a button; the button rests meanwhile, and what is refused is told beside it.
export async function act(control, place, action) {
  control.disabled = true;
  place.replaceChildren();
  try {
    return await action();
  } catch (error) {
    place.replaceChildren(h("p", { class: "refusal", role: "alert" }, error.message));
    return undefined;
  } finally {
    control.disabled = false;
  }
}
