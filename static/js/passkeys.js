// Forms that a passkey signs: ask the server what to sign, have it signed, send it with the form.
// The server keeps what was asked for; nothing that this file says is believed.

const bytes = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (one) => one.charCodeAt(0));
const text = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
const withIds = (list) => (list || []).map((one) => ({ ...one, id: bytes(one.id) }));

// Older browsers know neither the parsing of options nor toJSON.
function toSign(options) {
  if (PublicKeyCredential.parseRequestOptionsFromJSON) return PublicKeyCredential.parseRequestOptionsFromJSON(options);
  return { ...options, challenge: bytes(options.challenge), allowCredentials: withIds(options.allowCredentials) };
}

function toMake(options) {
  if (PublicKeyCredential.parseCreationOptionsFromJSON) return PublicKeyCredential.parseCreationOptionsFromJSON(options);
  const user = { ...options.user, id: bytes(options.user.id) };
  return { ...options, user, challenge: bytes(options.challenge), excludeCredentials: withIds(options.excludeCredentials) };
}

function asText(credential) {
  const { response } = credential;
  const said = { clientDataJSON: text(response.clientDataJSON) };
  if (response.attestationObject) {
    said.attestationObject = text(response.attestationObject);
    said.transports = response.getTransports ? response.getTransports() : [];
  } else {
    said.authenticatorData = text(response.authenticatorData);
    said.signature = text(response.signature);
  }
  const id = text(credential.rawId);
  return JSON.stringify({ id, rawId: id, type: credential.type, response: said });
}

const SENTENCES = {
  NotAllowedError: "The key did not sign: it was cancelled, took too long, or did not recognize you. Try again.",
  InvalidStateError: "This key is enrolled already. One key serves one person; take another one.",
  NotSupportedError: "This key cannot sign in a way that is taken here.",
};

class Refused extends Error {}

async function optionsOf(form, submitter) {
  const given = new FormData(form);
  if (submitter?.name) given.append(submitter.name, submitter.value);
  const answer = await fetch(form.dataset.options, { method: "POST", body: given, headers: { Accept: "application/json" } });
  const isJson = answer.headers.get("Content-Type")?.startsWith("application/json");
  if (!isJson) throw new Refused("The server did not say what to sign. Load the page anew.");
  const said = await answer.json();
  if (!answer.ok) throw new Refused(said.sentence);
  return said.publicKey;
}

async function answerOf(form, submitter) {
  if (!window.PublicKeyCredential) throw new Refused("This browser knows no passkeys.");
  if (location.origin !== new URL(form.dataset.origin).origin) {
    throw new Refused(`Passkeys work at ${form.dataset.origin} alone. Open that address.`);
  }
  const options = await optionsOf(form, submitter);
  const isNew = form.dataset.passkey === "make";
  const made = isNew
    ? await navigator.credentials.create({ publicKey: toMake(options) })
    : await navigator.credentials.get({ publicKey: toSign(options) });
  return asText(made);
}

function say(form, sentence) {
  const place = form.querySelector("[data-says]");
  place.hidden = !sentence;
  place.textContent = sentence;
}

// A password that was typed is sent as it is; what only stops a write needs no key when none signs.
function goesAsItIs(form, submitter) {
  const password = form.querySelector("input[name=password]");
  return form.elements.assertion.value !== "" || Boolean(password?.value) || submitter?.dataset.unsigned === "yes";
}

async function submitted(event) {
  const form = event.currentTarget;
  const { submitter } = event;
  if (goesAsItIs(form, submitter)) return;
  event.preventDefault();
  if (form.dataset.busy) return;
  form.dataset.busy = "yes";
  say(form, "");
  try {
    form.elements.assertion.value = await answerOf(form, submitter);
    form.requestSubmit(submitter);
  } catch (problem) {
    refuse(form, submitter, problem);
  } finally {
    delete form.dataset.busy;
  }
}

function refuse(form, submitter, problem) {
  const sentence = problem instanceof Refused ? problem.message : SENTENCES[problem.name] || `The key did not sign: ${problem.message}`;
  const isOptional = submitter?.dataset.signing === "optional" && !(problem instanceof Refused);
  if (isOptional) submitter.dataset.unsigned = "yes";
  say(form, isOptional ? `${sentence} Press it once more to go on without a key.` : sentence);
}

// A page that comes back from the browser's memory holds an answer that was used.
window.addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-passkey]")) form.elements.assertion.value = "";
});
for (const form of document.querySelectorAll("form[data-passkey]")) form.addEventListener("submit", submitted);
