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
function focusKey(key) {
  document.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus();
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
  else focusKey(key);
});

function submitWithOneButton(event) {
  const form = event.target.form;
  if (form?.querySelectorAll("button").length === 1) form.requestSubmit();
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

function say(text) {
  document.getElementById("alerts").textContent = text;
}
document.addEventListener("htmx:responseError", () => say("That did not go through. Reload the page to see what was recorded."));
document.addEventListener("htmx:sendError", () => say("We cannot tell if this was recorded. Check the log before you try again."));
document.addEventListener("htmx:afterSwap", (event) => event.target.querySelector?.("[autofocus]")?.focus());
