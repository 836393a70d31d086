// Every way a page has to reach a server; gives what it could read, "" for nothing.
async ([url, how, path, body]) => {
  const read = async (answer) => answer.type === "opaque" ? "" : answer.ok ? "READ " + (await answer.text()) : "";
  const post = (kind, mode) => fetch(url + path, {method: "POST", mode, credentials: "include", body,
    headers: kind ? {"content-type": kind} : {}}).then(read);
  const timed = (start) => new Promise((done) => { start(done); setTimeout(() => done(""), 2500); });
  try {
    if (how === "fetch") return await fetch(url + path, {credentials: "include"}).then(read);
    if (how === "no-cors") return await fetch(url + path, {mode: "no-cors"}).then(read);
    if (how === "post json") return await post("application/json", "cors");
    if (how === "post text") return await post("text/plain", "cors");
    if (how === "post text, no-cors") return await post("text/plain", "no-cors");
    if (how === "post without kind") return await post("", "no-cors");
    if (how === "beacon") { navigator.sendBeacon(url + path, new Blob([body], {type: "text/plain"})); return ""; }
    if (how === "form") return await timed((done) => {
      const frame = document.createElement("iframe"); frame.name = "f"; document.body.append(frame);
      frame.onload = () => { try { done(frame.contentDocument ? "" : ""); } catch { done(""); } };
      const form = document.createElement("form");
      Object.assign(form, {method: "post", action: url + path, enctype: "text/plain", target: "f"});
      const field = document.createElement("input");
      field.name = body.slice(0, -1) + ',"x":"'; field.value = '"}'; form.append(field);
      document.body.append(form); form.submit(); });
    if (how === "frame") return await timed((done) => {
      const frame = document.createElement("iframe"); frame.src = url + path; document.body.append(frame);
      frame.onload = () => { try { done(frame.contentDocument?.body?.innerText ? "READ" : ""); } catch { done(""); } }; });
    if (how === "script") return await timed((done) => {
      const script = document.createElement("script"); script.src = url + path;
      script.onload = () => done("READ a script"); script.onerror = () => done(""); document.body.append(script); });
    if (how === "event source") return await timed((done) => {
      const source = new EventSource(url + path, {withCredentials: true});
      source.onmessage = (m) => done("READ " + m.data); source.onopen = () => done("READ a stream");
      source.onerror = () => { source.close(); done(""); }; });
    if (how === "web socket") return await timed((done) => {
      const socket = new WebSocket(url.replace("http", "ws") + path);
      socket.onopen = () => done("READ a socket"); socket.onerror = () => done(""); socket.onclose = () => done(""); });
  } catch { return ""; }
}
