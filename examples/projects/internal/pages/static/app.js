// Progress for the pages: uploads, the countdown of an undo, live counts of a
// deletion. Without it the forms do the same, one page at a time.
"use strict";

const role = (node, name) => node.querySelector(`[data-role="${name}"]`);
const wait = (ms) => new Promise((done) => setTimeout(done, ms));
const rows = (n) => (n === 1 ? "1 row" : `${n} rows`);
const open = (state) => ["scheduled", "ready", "running"].includes(state);

function element(tag, name, text) {
  const node = document.createElement(tag);
  if (name) node.className = name;
  if (text !== undefined) node.textContent = text;
  return node;
}

function stateText(job) {
  switch (job.state) {
    case "scheduled": return "Waiting for the end of the undo window.";
    case "ready": return "About to be deleted.";
    case "running": return `Being deleted, ${rows(job.deleted_rows)} so far.`;
    case "done": return `Gone, with ${rows(job.deleted_rows)} below it.`;
    case "cancelled": return "The deletion was undone.";
  }
  return "The deletion failed: " + (job.last_error || "see the log") + ".";
}

// follow asks for a job until it is finished. skew is how far this clock is ahead of
// the server's.
async function follow(id, show) {
  for (;;) {
    try {
      const answer = await fetch(`/api/jobs/${id}`, { cache: "no-store" });
      const skew = Date.now() - Date.parse(answer.headers.get("Date") || new Date().toUTCString());
      if (answer.ok) {
        const job = await answer.json();
        show(job, Math.abs(skew) < 2000 ? 0 : skew);
        if (!open(job.state)) return;
      } else if (answer.status === 404) {
        return;
      }
    } catch {
      // The server is being restarted; the next try will tell.
    }
    await wait(document.hidden ? 3000 : 500);
  }
}

function undoBar(bar) {
  let due = Date.parse(bar.dataset.due);
  const status = role(bar, "status");
  const undo = role(bar, "undo");
  let state = bar.dataset.state;
  let skew = 0;
  const tick = () => {
    if (state !== "scheduled") return;
    const left = Math.ceil((due + skew - Date.now()) / 1000);
    status.textContent = left > 0 ? `It can be brought back for ${left} more second${left === 1 ? "" : "s"}.` : "About to be deleted.";
    if (left <= 0 && undo) undo.hidden = true;
  };
  tick();
  const timer = setInterval(tick, 250);
  if (!open(state)) return clearInterval(timer);
  follow(bar.dataset.job, (job, ahead) => {
    skew = ahead;
    state = job.state;
    due = Date.parse(job.due_at || bar.dataset.due);
    if (state === "scheduled") return tick();
    if (undo) undo.remove();
    status.textContent = stateText(job);
    if (!open(state)) clearInterval(timer);
  });
}

function jobPage(card) {
  let total = Number(card.dataset.total);
  const bar = role(card, "bar");
  follow(card.dataset.job, (job) => {
    total = job.state === "done" ? job.deleted_rows : Math.max(total, job.deleted_rows);
    bar.max = total || 1;
    bar.value = total ? job.deleted_rows : job.state === "done" ? 1 : 0;
    role(card, "deleted").textContent = job.deleted_rows;
    role(card, "total").textContent = total;
    const badge = role(card, "state");
    badge.textContent = job.state;
    badge.className = "badge " + job.state;
    role(document, "text").textContent = stateText(job);
    const undo = role(document, "undo");
    if (undo && job.state !== "scheduled") undo.remove();
    if (job.state !== "scheduled") role(card, "until")?.remove();
    const names = Object.keys(job.tables || {}).sort();
    if (names.length === 0) {
      if (!open(job.state)) card.querySelector("tbody .meta").textContent = "Nothing.";
      return;
    }
    role(card, "tables").replaceChildren(...names.map((name) => {
      const row = element("tr");
      row.append(element("td", "", name), element("td", "number", job.tables[name]));
      return row;
    }));
  });
}

// send uploads one file and says what became of it.
function send(form, file, line) {
  const bar = element("progress");
  bar.max = 1;
  bar.value = 0;
  const result = element("span", "", "waiting");
  line.append(element("span", "file", file.name), result, bar);
  return (start) => start.then(() => new Promise((done) => {
    const finish = (kind, text) => {
      result.className = kind;
      result.textContent = text;
      bar.remove();
      done(kind === "good");
    };
    if (file.size > Number(form.dataset.max)) return finish("bad", "too large");
    const fail = role(form, "fail").checked ? "?on_conflict=fail" : "";
    const request = new XMLHttpRequest();
    request.open("PUT", form.dataset.upload + encodeURIComponent(file.name) + fail);
    request.upload.onprogress = (event) => { if (event.lengthComputable) bar.value = event.loaded / event.total; };
    request.onload = () => {
      let answer = {};
      try { answer = JSON.parse(request.responseText); } catch { /* the status says enough */ }
      if (request.status === 201) return finish("good", "created");
      if (request.status === 200) return finish("good", `new version ${answer.version || ""}`.trim());
      if (request.status === 409 && answer.existing_id) return finish("bad", "conflict: the name is taken");
      finish("bad", answer.detail || `failed (${request.status})`);
    };
    request.onerror = () => finish("bad", "the connection was lost");
    result.textContent = "uploading";
    request.send(file);
  }));
}

function dropZone(form) {
  const input = form.querySelector("input[type=file]");
  const list = role(form, "list");
  role(form, "send").hidden = true;
  const take = async (files) => {
    if (files.length === 0) return;
    const jobs = [...files].map((file) => {
      const line = element("li");
      list.append(line);
      return send(form, file, line);
    });
    // Three at a time.
    const lanes = [Promise.resolve(), Promise.resolve(), Promise.resolve()];
    jobs.forEach((job, i) => { lanes[i % 3] = job(lanes[i % 3]); });
    await Promise.all(lanes);
    input.value = ""; // the choice about conflicts stays
    await refresh();
  };
  input.addEventListener("change", () => take(input.files));
  form.addEventListener("submit", (event) => { event.preventDefault(); take(input.files); });
  for (const name of ["dragenter", "dragover"]) {
    form.addEventListener(name, (event) => { event.preventDefault(); form.classList.add("over"); });
  }
  for (const name of ["dragleave", "drop"]) {
    form.addEventListener(name, () => form.classList.remove("over"));
  }
  form.addEventListener("drop", (event) => { event.preventDefault(); take(event.dataTransfer.files); });
}

// refresh fetches this page again and puts its list of screens in place.
async function refresh() {
  const answer = await fetch(location.href, { cache: "no-store" });
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.getElementById("screens");
  if (answer.ok && fresh) document.getElementById("screens").replaceWith(fresh);
}

document.querySelectorAll(".undo[data-job]").forEach(undoBar);
document.querySelectorAll(".job[data-job]").forEach(jobPage);
document.querySelectorAll(".drop").forEach(dropZone);
// A new name's form lies over the next row: it closes when a click or the focus is elsewhere.
for (const kind of ["click", "focusin"]) {
  document.addEventListener(kind, (event) => {
    document.querySelectorAll("details.rename[open]").forEach((d) => { if (!d.contains(event.target)) d.open = false; });
  });
}
