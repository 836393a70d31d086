// Chooses documents: folders below the allowed roots, and files that are uploaded.

import { get, upload } from "./api.js";
import { act, button, h, say, show } from "./dom.js";
import { t } from "./texts.js";

// Fills a place with the choice; `state` has `docs`, the places chosen, and `uploads`, the folder of this visit.
export function documentPicker(place, state, changed, ...more) {
  const picker = h("div", { class: "picker" });
  const files = h("input", { type: "file", multiple: true, class: "hidden", id: "files", onchange: () => sendFiles(files) });
  const chosen = h("ul", { class: "tokens" });
  const problem = h("div", {});
  const short = (path) => (state.uploads && path.endsWith(state.uploads) ? t("docs.uploads") : path);
  place.replaceChildren(chosen,
    h("div", { class: "row" }, button(t("docs.folder"), () => openFolder("")), h("label", { class: "button", for: "files" }, t("docs.upload")), files, ...more),
    picker, problem);
  showChosen();

  function showChosen() {
    show(chosen, state.docs, () => state.docs.map((path) => h("li", {}, h("span", {}, short(path)),
      button("×", () => {
        state.docs = state.docs.filter((one) => one !== path);
        showChosen();
        changed();
      }, "quiet", { "aria-label": t("docs.remove", { name: short(path) }) }))));
  }

  function add(path) {
    if (!state.docs.includes(path)) state.docs.push(path);
    showChosen();
    changed();
  }

  async function openFolder(path) {
    const found = await act(place, problem, () => get("folders", { path }));
    if (!found) return;
    picker.replaceChildren(h("div", { class: "folder" },
      h("div", { class: "row between" },
        h("strong", {}, found.path || t("docs.roots")),
        found.path ? button(t("docs.use", { n: found.documents }), () => {
          add(found.path);
          picker.replaceChildren();
        }, "primary") : null),
      h("ul", {},
        found.parent === null ? null : h("li", {}, button("↑ " + t("docs.up"), () => openFolder(found.parent), "quiet")),
        found.folders.map((folder) => h("li", {}, button(`${folder.name}/`, () => openFolder(folder.path), "quiet"))))));
    picker.querySelector("button")?.focus();
  }

  async function sendFiles(control) {
    for (const file of control.files) {
      const kept = await act(control, problem, () => upload(file, state.uploads));
      if (!kept) break;
      state.uploads = kept.folder;
      add(kept.path);
      say(t("docs.uploaded", { name: kept.name }));
    }
    control.value = "";
  }
}
