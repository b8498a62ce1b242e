// SPDX-License-Identifier: Apache-2.0
// The client in this browser: a section of the login and sign-up pages, and a page of its own. The URL of that page says
// what it is for:
//
//   /client                                      the identities of this browser
//   /client#WID                                  the QR code of a login page, which another screen shows
//   /client#user_id=…&project_id=…&code=…        the QR code of another device of the user (QuickCode)
//   /verification/confirmation?user_id=…&code=…  the link of a mail

import "./mpin-pad.js";
import { Flows } from "./page-flows.js";
import { button, clientOf, element, install, page, place, say } from "./page-setup.js";

const status = element("p", { id: "client-status", role: "status" });
const view = element("div", { id: "client-view" });
const pad = element("mpin-pad");
place.append(status, view, pad);

const flows = new Flows(pad, (isWorking) => (isWorking ? working() : tell("")));

/** Says something to the user. `wrong`: it is an error. */
function tell(text, wrong = false) {
  status.textContent = text;
  status.classList.toggle("bad", wrong);
}

/** Says that the user has to wait: the network may be slow. */
const working = () => tell(say("clientWorking"));

const show = (...children) => view.replaceChildren(...children);

/** Shows the present list again. Undefined while the user is doing something else. */
let refresh;

/** The texts of errors. Others are `clientFailed`. */
const ERRORS = {
  REVOKED: "clientRevoked",
  BLOCKED: "clientRevoked",
  IDENTITY_NOT_AUTHORIZED: "clientRevoked",
  VERIFICATION_FAILED: "clientCodeWrong",
  REGISTRATION_EXPIRED: "clientCodeWrong",
  INCORRECT_ACCESS_NUMBER: "clientSessionOver",
  REQUEST_BACKOFF: "clientTooSoon",
  SESSION_INVALID: "clientSessionOver",
  STORAGE_ERROR: "clientNoStorage",
  NETWORK_ERROR: "clientNoNetwork",
  TIMED_OUT: "clientNoNetwork",
};

/** Runs what a user has asked for, and then shows `after`, also if it fails. Nothing else can be begun meanwhile. */
async function run(work, after, userId = "") {
  refresh = undefined;
  show();
  working();
  try {
    await work();
  } catch (error) {
    if (error.code === "PIN_INPUT_CANCELED") tell("");
    else tell(say(ERRORS[error.code] ?? "clientFailed", { user: userId }), true);
    await after();
  }
}

/** The identities of this browser, the most recently used one first. Those of other projects only where `everyProject`. */
async function identities(everyProject = false) {
  return (await clientOf().users.all({ everyProject })).reverse();
}

/** The buttons with which identities log in to the browser with the name `wid`. */
function loginButtons(users, wid, application, after, done) {
  return users
    .filter(({ state }) => state === "REGISTERED")
    .map((user, i) =>
      button(
        say("clientLogIn", { user: user.userId }),
        () => run(() => flows.logIn(user, wid, { application }).then(() => done(user)), after, user.userId),
        i === 0 ? "" : "quiet",
      ),
    );
}

/** Asks for the mail address, and then for the code in the mail. `registered`: what happens after the registration. */
function signUp(after, registered, projectId = page.project) {
  const address = element("input", { id: "client-address", type: "email", autocomplete: "email", required: true, maxLength: 254 });
  const form = element(
    "form",
    { onsubmit: (event) => submitted(event, () => run(() => send(address.value.trim()), after)) },
    element("p", {}, say("clientSignUpLead")),
    element("p", {}, element("label", { htmlFor: address.id }, say("mailAddress")), address),
    actions(element("button", { type: "submit" }, say("clientSendMail")), button(say("oidcCancel"), after, "quiet")),
  );
  const send = async (userId) => {
    try {
      const { method } = await clientOf(projectId).sendVerificationEmail(userId);
      tell(say(method === "code" ? "clientMailCode" : "clientMailLink", { user: userId }));
      if (method === "code") return askCode(userId);
      show(actions(button(say("oidcGoOn"), after, "quiet")));
      refresh = after;
    } catch (error) {
      if (error.code !== "REQUEST_BACKOFF") throw error;
      // The last mail may have brought a code, for example before the page was loaded again.
      askCode(userId);
      tell(say("clientTooSoon"), true);
    }
  };
  const askCode = (userId) => {
    const code = element("input", { id: "client-code", type: "text", inputMode: "numeric", autocomplete: "one-time-code", required: true, maxLength: 16 });
    const check = () => run(() => confirmed(projectId, userId, code.value.trim(), registered), after, userId);
    show(
      element(
        "form",
        { onsubmit: (event) => submitted(event, check) },
        element("p", {}, element("label", { htmlFor: code.id }, say("clientCode")), code),
        actions(element("button", { type: "submit" }, say("oidcGoOn")), button(say("oidcCancel"), after, "quiet")),
      ),
    );
    code.focus();
  };
  show(form);
  address.focus();
}

function submitted(event, act) {
  event.preventDefault();
  act();
}

const actions = (...children) => element("p", { className: "actions" }, ...children);

/** Registers with the code of a mail. */
async function confirmed(projectId, userId, code, registered) {
  const { actToken } = await clientOf(projectId).getActivationToken(userId, code);
  await registered(await flows.register(projectId, userId, actToken));
}

/** A section of a login page: this browser is logged in by its own client. The page's other script sees the login. */
async function loginPage() {
  const users = await identities();
  const registered = ({ user, pin }) => flows.logIn(user, page.wid, { pin });
  const buttons = loginButtons(users, page.wid, page.application || page.name, loginPage, () => {});
  show(
    actions(
      ...buttons,
      button(say("clientSignUp"), () => begin(() => signUp(loginPage, registered)), buttons.length ? "quiet" : ""),
    ),
  );
  refresh = loginPage;
}

/** A section of the page that explains how to sign up. */
async function signUpPage() {
  show(actions(button(say("clientSignUp"), () => begin(() => signUp(signUpPage, welcome)))));
}

async function welcome({ user, pin }) {
  pin.fill(0);
  tell(say("clientRegistered", { user: user.userId }));
  show(actions(element("a", { className: "button", href: "/login" }, say("clientLogIn", { user: user.userId }))));
}

/** Clears what the last step has said. */
function begin(next) {
  refresh = undefined;
  tell("");
  return next();
}

/**
 * The page of a QR code that another screen shows. It says what the login is for before it asks for a PIN. A screen that
 * the server has not seen may be anywhere, so it needs a confirmation of its own.
 */
async function screenPage(wid) {
  document.querySelector("h1").textContent = say("clientScreenTitle");
  const details = await clientOf().getSessionDetails(`#${wid}`);
  const projectId = details.projectId || page.project;
  const after = () => choose();
  const done = (user) => tell(say("clientScreenDone", { user: user.userId }));
  const registered = async ({ user, pin }) => {
    await flows.logIn(user, wid, { pin });
    done(user);
  };
  const decline = async () => {
    await clientOf().abortSession(`#${wid}`);
    tell(say("clientScreenDeclined"));
  };
  const application = details.siteName || page.name;
  const { browserAddress, browserProgram, siteAddress, siteText } = details;
  const place = browserAddress && (browserProgram ? `${browserAddress} (${browserProgram})` : browserAddress);
  let isSure = Boolean(place);
  const origin = () => {
    if (place) return say("clientScreenFrom", { place });
    return say(siteAddress ? "clientScreenServer" : "clientScreenUnknown", { name: application, address: siteAddress });
  };
  const sure = () => {
    isSure = true;
    return choose();
  };
  const logIn = async () => {
    const users = (await identities(true)).filter((user) => user.projectId === projectId);
    const buttons = loginButtons(users, wid, application, after, done);
    const register = () => begin(() => signUp(after, registered, projectId));
    return [...buttons, button(say("clientSignUp"), register, buttons.length ? "quiet" : "")];
  };
  const choose = async () => {
    const next = isSure ? await logIn() : [button(say("clientScreenSure"), sure)];
    show(
      element("p", { className: "lead" }, say("clientScreenSite", { site: location.host })),
      element("p", { id: "client-application" }, say("clientScreenName", { name: application })),
      ...(siteText
        ? [element("p", { id: "client-words" }, say("clientScreenWords", { name: application, words: siteText }))]
        : []),
      element("p", { id: "client-place" }, origin()),
      element("p", {}, say("clientScreenWarning")),
      actions(...next, button(say("oidcCancel"), () => run(decline, after), "quiet")),
    );
  };
  await choose();
}

/** The page of a mail's link or of a QuickCode. A click is needed, because programs open links, too. */
function confirmPage({ userId, projectId, code, isQuickCode }) {
  const register = async () => {
    if (!isQuickCode) return confirmed(projectId, userId, code, welcome);
    await welcome(await flows.register(projectId, userId, code));
  };
  show(
    element("p", { className: "lead" }, say("clientConfirm", { user: userId })),
    actions(button(say("clientChoosePIN"), () => run(register, listPage, userId))),
  );
}

/** The identities of this browser, and what can be done with each of them. */
async function listPage() {
  const users = await identities(true);
  const list = users.map((user) => {
    const { userId, state } = user;
    const act = (text, work, style = "quiet") => button(say(text), () => run(work, listPage, userId), style);
    const registered = state === "REGISTERED";
    return element(
      "li",
      {},
      element("h2", {}, userId),
      ...(registered ? [] : [element("p", { className: "bad" }, say("clientBlocked"))]),
      actions(
        ...(registered ? [act("clientDevice", () => device(user)), act("clientChange", () => changed(user))] : []),
        button(say("clientForget"), () => begin(() => forget(user)), "quiet"),
      ),
    );
  });
  show(
    users.length ? element("ul", { className: "items" }, ...list) : element("p", { className: "lead" }, say("clientNone")),
    actions(
      button(say("clientSignUp"), () => begin(() => signUp(listPage, registeredHere)), users.length ? "quiet" : ""),
    ),
  );
}

/** The page at the site's own origin, if the client has moved to another one: the identities that are still here. */
async function movePage() {
  const users = (await identities(true)).filter(({ state }) => state === "REGISTERED");
  if (!users.length) return location.replace(`${page.moveTo}/client${location.hash}`);
  const move = async (user) => {
    const { code } = await flows.quickCode(user);
    const members = new URLSearchParams({ user_id: user.userId, project_id: user.projectId, code });
    location.assign(`${page.moveTo}/client#${members}`);
  };
  const list = users.map((user) =>
    element(
      "li",
      {},
      element("h2", {}, user.userId),
      actions(
        button(say("clientMove"), () => run(() => move(user), movePage, user.userId)),
        button(say("clientForget"), () => begin(() => forget(user, movePage)), "quiet"),
      ),
    ),
  );
  show(
    element("p", { className: "lead" }, say("clientMoveText", { site: new URL(page.moveTo).host })),
    element("ul", { className: "items" }, ...list),
  );
}

async function registeredHere({ user, pin }) {
  pin.fill(0);
  await listPage();
  tell(say("clientRegistered", { user: user.userId }));
}

async function changed(user) {
  await flows.changePIN(user);
  await listPage();
  tell(say("clientChanged", { user: user.userId }));
}

function forget({ userId, projectId }, after = listPage) {
  const remove = async () => {
    await clientOf(projectId).users.remove(userId);
    await after();
    tell(say("clientForgotten", { user: userId }));
  };
  show(
    element("p", { className: "lead" }, say("clientForgetText", { user: userId })),
    actions(
      button(say("clientForgetYes", { user: userId }), () => run(remove, after, userId)),
      button(say("oidcCancel"), after, "quiet"),
    ),
  );
}

/** Shows the QR code with which another device of the user registers. The server draws it. */
async function device({ userId, projectId }) {
  const { code } = await flows.quickCode({ userId, projectId });
  const reply = await fetch("/client/code", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ userId, projectId, code }),
  });
  if (!reply.ok) throw new Error(String(reply.status));
  tell("");
  show(
    element("p", { className: "lead" }, say("clientDeviceText")),
    drawn(await reply.json(), say("clientDevicePicture")),
    element("p", {}, element("output", { id: "client-quick-code", className: "code" }, code)),
    actions(button(say("oidcGoOn"), listPage)),
  );
}

/** A QR code as a picture, from its side and the path of its dark modules. */
function drawn({ side, path }, label) {
  const make = (name, attributes) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
    return made;
  };
  const picture = make("svg", { class: "code", viewBox: `0 0 ${side} ${side}`, role: "img", "aria-label": label });
  picture.append(
    make("path", { fill: "#fff", d: `M0 0h${side}v${side}H0z` }),
    make("path", { fill: "#000", d: path, "shape-rendering": "crispEdges" }),
  );
  return picture;
}

/** What the page is for. */
async function open() {
  if (page.wid) return loginPage();
  if (location.pathname === "/signup") return signUpPage();
  if (page.moveTo) return movePage();
  install();
  const fragment = location.hash.slice(1);
  if (/^[0-9a-f]{32}$/.test(fragment)) return screenPage(fragment);
  const members = new URLSearchParams(location.pathname === "/client" ? fragment : location.search);
  const [userId, code] = [members.get("user_id"), members.get("code")];
  if (!userId || !code) return listPage();
  // The code stays neither in the address bar nor in the history.
  history.replaceState(null, "", "/client");
  return confirmPage({ userId, code, isQuickCode: fragment !== "", projectId: members.get("project_id") || page.project });
}

addEventListener("hashchange", () => location.reload());
// The link of a mail opens in another tab, and its user comes back to this one.
addEventListener("visibilitychange", () => document.visibilityState === "visible" && refresh?.());

working();
// The Worker asks for its module at the first login, and then finds it in the browser's cache.
fetch(page.wasm, { integrity: page.integrity }).catch(() => {});
await open().then(
  () => tell(""),
  (error) => tell(say(ERRORS[error.code] ?? "clientFailed"), true),
);
