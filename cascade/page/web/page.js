// Keeps the board up to date: one small request a second, one at a time, none while nobody looks. Without this file
// the page works as well; it is then as of its loading.
'use strict';

const board = document.getElementById('board');
const live = document.getElementById('live');
const liveText = document.getElementById('live-text');
const offline = document.getElementById('offline');
const every = 1000, patience = 8000, slowest = 15000;
let tag = '', failures = 0, timer = 0;

function show(state, text) {
  if (live.dataset.state === state) return;
  live.dataset.state = state;
  liveText.textContent = text;
}

function say(text) {
  if (offline.textContent !== text) offline.textContent = text;
  offline.hidden = text === '';
}

async function refresh() {
  if (document.hidden) return;
  try {
    const answer = await fetch(live.dataset.from, {
      headers: tag ? { 'If-None-Match': tag } : {}, cache: 'no-store', redirect: 'error', signal: AbortSignal.timeout(patience),
    });
    if (answer.status === 401) {
      show('off', 'Signed out');
      say('The sign-in has ended: reload this page to sign in again.');
      return;
    }
    if (answer.status === 404) {
      show('off', 'Gone');
      say('This is not there any more.');
      return;
    }
    if (answer.status !== 304) {
      if (!answer.ok) throw new Error('the worker answered with ' + answer.status);
      const fresh = document.createElement('div');
      fresh.innerHTML = await answer.text();
      morph(board, fresh);
      tag = answer.headers.get('ETag') || '';
    }
    failures = 0;
    say('');
    show(document.getElementById('problem') ? 'bad' : 'on', document.getElementById('problem') ? 'No database' : 'Live');
  } catch {
    failures++;
    if (failures > 1) {
      show('bad', 'Not live');
      say('This worker does not answer, so what is shown is old. Trying again by itself.');
    }
  }
  timer = setTimeout(refresh, Math.min(slowest, every * 2 ** Math.min(failures, 4)));
}

document.addEventListener('visibilitychange', () => {
  clearTimeout(timer);
  if (!document.hidden) refresh();
});

// morph makes a like b and keeps what is the same: the focus, a half-typed reason, an opened list.
function morph(a, b) {
  const old = new Map(), wanted = new Set([...b.children].map((child) => child.id));
  for (const child of [...a.children]) {
    if (!child.id) continue;
    if (wanted.has(child.id)) old.set(child.id, child); else child.remove(); // first, so that what stays need not move
  }
  let at = a.firstChild;
  for (const want of [...b.childNodes]) {
    const id = want.nodeType === Node.ELEMENT_NODE ? want.id : '';
    let have = id ? old.get(id) : at;
    if (have && (have.nodeType !== want.nodeType || have.nodeName !== want.nodeName || (have.id || '') !== id)) have = null;
    if (!have) {
      a.insertBefore(want, at);
      continue;
    }
    if (have === at) at = at.nextSibling; else a.insertBefore(have, at);
    if (have.nodeType !== Node.ELEMENT_NODE) {
      if (have.nodeValue !== want.nodeValue) have.nodeValue = want.nodeValue;
      continue;
    }
    if (have.isEqualNode(want)) continue;
    for (const name of have.getAttributeNames()) if (!want.hasAttribute(name) && !(name === 'open' && have.nodeName === 'DETAILS')) have.removeAttribute(name);
    for (const name of want.getAttributeNames()) if (have.getAttribute(name) !== want.getAttribute(name)) have.setAttribute(name, want.getAttribute(name));
    morph(have, want);
  }
  while (at) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
}

show('on', 'Live');
timer = setTimeout(refresh, every);
