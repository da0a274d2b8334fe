// Keys, focus, toasts, and what could not be delivered. Every page works without this file.

const TOAST_MS = 6000;
const PLACES = { i: "/inbox/", w: "/writes/", a: "/audit/" };
let awaitsPlace = false;

const keysAreOn = () => localStorage.getItem("keys") !== "off";
const isTyping = (target) => target.matches("input, textarea, select, [contenteditable]");

function moveRow(step) {
  const links = [...document.querySelectorAll(".row__title a, .table--log td.num a")];
  const here = links.indexOf(document.activeElement);
  links[Math.min(links.length - 1, Math.max(0, here + step))]?.focus();
}

// A key moves focus to the element that names it in data-key; Enter on that element decides.
function focusKey(key, event) {
  const named = document.querySelector(`[data-key="${CSS.escape(key)}"]`);
  if (!named) return;
  event.preventDefault(); // else a slash would be typed into the search that it leads to
  named.focus();
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey && event.key === "Enter") return submitWithOneButton(event);
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || !keysAreOn()) return;
  const key = event.key.toLowerCase();
  if (awaitsPlace) {
    awaitsPlace = false;
    if (PLACES[key]) location.assign(PLACES[key]);
  } else if (key === "g") awaitsPlace = true;
  else if (key === "?") document.getElementById("keys").showModal();
  else if (key === "j") moveRow(1);
  else if (key === "k") moveRow(-1);
  else focusKey(key, event);
});

function submitWithOneButton(event) {
  const form = event.target.form;
  if (form?.querySelectorAll("button").length === 1) form.requestSubmit();
}

// On a narrow page the rail is one line that scrolls: show where one is.
document.querySelector(".rail [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });

// Without this button nobody could switch the keys on again by the keyboard alone.
const keysButton = document.querySelector("[data-opens]");
if (keysButton) {
  keysButton.hidden = false;
  keysButton.addEventListener("click", () => document.getElementById(keysButton.dataset.opens).showModal());
}

const keysSwitch = document.getElementById("keys-on");
keysSwitch.checked = keysAreOn();
keysSwitch.addEventListener("change", () => localStorage.setItem("keys", keysSwitch.checked ? "on" : "off"));

function lapse(toast) {
  const leave = () => (toast.matches(":hover, :focus-within") ? setTimeout(leave, 1000) : toast.remove());
  setTimeout(leave, TOAST_MS);
}
const toasts = document.getElementById("toasts");
[...toasts.children].forEach(lapse);
new MutationObserver((changes) => changes.forEach((change) => change.addedNodes.forEach((node) => node.nodeType === 1 && lapse(node)))).observe(toasts, { childList: true });

// A stream says only that something changed; the request that polls every 15 s then asks what. A hidden page holds none,
// for a browser keeps six connections to a host. Without streams the poll does it alone.
const NUDGES = document.querySelector("[data-nudges]")?.dataset.nudges;
const MS_TO_TRY_AGAIN = 60000;
let stream = null;

function listen() {
  if (!NUDGES || !window.EventSource || document.hidden || stream) return;
  stream = new EventSource(NUDGES);
  stream.onopen = stream.onmessage = () => htmx.trigger("#work", "nudge");
  stream.onerror = () => {
    if (stream.readyState !== EventSource.CLOSED) return; // it comes back by itself
    stream = null;
    setTimeout(listen, MS_TO_TRY_AGAIN);
  };
}
function hush() {
  stream?.close();
  stream = null;
}
listen();
document.addEventListener("visibilitychange", () => (document.hidden ? hush() : listen()));

// What could not be delivered. Only a request that changes something leaves a doubt about the log.
const alerts = document.getElementById("alerts");
const STALE = "What you see may be old: the server could not be asked. Reload the page.";
const UNSURE = "We cannot tell if this was recorded. Check the log before you try again.";
const FAILED = "That did not go through. Reload the page to see what was recorded.";
const SIGNED_OUT = "You are signed out. Reload the page to sign in.";
const isReading = (event) => event.detail.requestConfig.verb === "get";

document.addEventListener("htmx:sendError", (event) => {
  alerts.textContent = isReading(event) ? STALE : UNSURE;
});
document.addEventListener("htmx:responseError", (event) => {
  if (event.detail.xhr.status === 401) alerts.textContent = SIGNED_OUT;
  else alerts.textContent = isReading(event) ? STALE : FAILED;
});
document.addEventListener("htmx:afterOnLoad", (event) => {
  if (event.detail.successful && alerts.textContent === STALE) alerts.textContent = "";
});
document.addEventListener("htmx:afterSwap", (event) => event.target.querySelector?.("[autofocus]")?.focus());

// Copying needs a clipboard, which a page has over https alone; without one the button stays away.
function tell(text) {
  const toast = document.createElement("p");
  toast.className = "toast";
  toast.textContent = text;
  toasts.append(toast);
}
function copy(source) {
  const done = () => tell("Copied.");
  navigator.clipboard.writeText(source.value ?? source.textContent).then(done, () => {
    if (source.select) source.select();
    else getSelection().selectAllChildren(source);
    tell("The browser kept its clipboard; the text is selected, so copy it from there.");
  });
}
document.querySelectorAll("[data-copies]").forEach((button) => {
  button.hidden = !navigator.clipboard;
  button.addEventListener("click", () => copy(document.getElementById(button.dataset.copies)));
});

// Words are an agent's until somebody edits them.
const drafted = document.querySelector("[data-agents]");
const wasTheirs = drafted?.classList.contains(drafted.dataset.agents);
drafted?.addEventListener("input", () => drafted.classList.toggle(drafted.dataset.agents, wasTheirs && drafted.value === drafted.defaultValue));
