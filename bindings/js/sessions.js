// SPDX-License-Identifier: Apache-2.0
// Sessions of browsers: on the page that shows one (TRUST wire sections 4.1 to 4.3), and on the device that is asked to
// log it in (4.13).

import { MPinError, invalid } from "./error.js";
import { need, text } from "./server.js";

/** Statuses of a session after which there are no others. */
export const ENDS = new Set(["authenticated", "signed", "abort", "expired"]);

/** The access id of a link, of the text of a QR code, of a push message, or as it is. */
export function accessIdOf(source) {
  if (source !== null && typeof source === "object") {
    if (!source.qrURL) throw invalid("Invalid push notification payload");
    return accessIdOf(source.qrURL);
  }
  const id = String(source ?? "").split("#").pop();
  if (!/^[\w.~-]{1,256}$/.test(id)) throw invalid("Invalid QR code or link");
  return id;
}

export async function fetchAccessId(engine, [userId, asked = {}], call) {
  const { description, hash } = asked;
  if (hash && !userId) throw invalid("Session for signing must be created with user ID");
  const body = { projectId: engine.options.projectId, userId: userId ?? undefined, description, hash };
  const session = await engine.server.post("/rps/v2/session", body, call);
  text(session, "webOTT");
  text(session, "qrURL");
  call.session = session;
  return session;
}

export async function fetchStatus(engine, _, call) {
  const { webOTT } = call.session;
  if (!webOTT) throw new MPinError("FLOW_ERROR", "there is no session: call fetchAccessId");
  const status = await engine.server.post("/rps/v2/access", { webOTT }, call);
  text(status, "status");
  return status;
}

export async function sendPushNotificationForAuth(engine, [userId], call) {
  need(userId, "Empty user ID");
  const query = Object.entries(engine.options.oidc ?? {}).map((pair) => pair.map(encodeURIComponent).join("="));
  const answer = await engine.server.post(`/pushauth?${query.join("&")}`, { prerollId: userId }, call);
  text(answer, "webOTT");
  // The other members of the former session do not belong to this one.
  call.session = { webOTT: answer.webOTT };
  return answer;
}

export async function sessionDetails(engine, [source], call) {
  const accessId = accessIdOf(source);
  const answer = await engine.server.post("/rps/v2/codeStatus", { wid: accessId, status: "wid" }, call);
  const { prerollId: userId = "", projectId = "", description = "", hash = "", ...rest } = answer;
  return { ...rest, accessId, userId, projectId, description, hash };
}

export async function abortSession(engine, [source], call) {
  await engine.server.post("/rps/v2/codeStatus", { wid: accessIdOf(source), status: "abort" }, call);
}
