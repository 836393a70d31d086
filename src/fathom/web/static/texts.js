// The words of the interface, in the browser's language or the one that was chosen here.

let words = {};
export let language = "en";

export async function load() {
  const wished = [localStorage.getItem("language"), ...navigator.languages].filter(Boolean);
  const found = wished.map((name) => name.slice(0, 2)).find((name) => name === "ko" || name === "en");
  await choose(found ?? "en");
}

export async function choose(name) {
  language = name === "ko" ? "ko" : "en";
  words = await (await fetch(`static/texts/${language}.json`)).json();
  document.documentElement.lang = language;
}

export function t(key, values = {}) {
  const text = words[key] ?? key;
  const counted = text.replace(/\{(\w+):([^|}]*)\|([^}]*)\}/g, (_, name, one, other) => `${values[name]} ${values[name] === 1 ? one : other}`);
  return counted.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

// A word of the server in the language of the page, or as it is.
export function word(group, name) {
  return words[`${group}.${name}`] ?? name;
}

export function usd(amount) {
  const digits = amount === 0 || amount >= 1 ? 2 : amount >= 0.01 ? 3 : 4;
  return `$${amount.toFixed(digits)}`;
}

// What was paid; nothing is said of nothing.
export const paid = (amount) => (amount ? usd(amount) : "");

export function span(seconds) {
  if (seconds < 90) return t("time.seconds", { n: Math.max(1, Math.round(seconds)) });
  if (seconds < 5400) return t("time.minutes", { n: Math.round(seconds / 60) });
  return t("time.hours", { n: (seconds / 3600).toFixed(1) });
}

export function day(text) {
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) return text ?? "";
  return date.toLocaleDateString(language, { year: "numeric", month: "short", day: "numeric" });
}

export function moment(text) {
  return new Date(text).toLocaleString(language, { dateStyle: "medium", timeStyle: "short" });
}

// What a run is expected to cost, in money and time.
export function expectation({ calls, unpriced, expected_usd, worst_usd, expected_s, worst_s }) {
  let money = t("price.usd", { likely: usd(expected_usd), most: usd(worst_usd) });
  if (!calls) money = t("price.free");
  else if (unpriced.length && !worst_usd) money = t("price.unknown");
  else if (!worst_usd) money = t("price.own");
  return `${money} · ${t("price.time", { likely: span(expected_s), most: span(worst_s) })}`;
}
