// SPDX-License-Identifier: Apache-2.0
// Every call of a client, by name. `run` gets the engine, the call's arguments, and its `signal`, `timeout` and `session`;
// a call that opens a session sets the last one. `pins` are the positions of arguments that are PINs: they cross to a
// Worker as bytes whose memory is handed over.

import * as login from "./login.js";
import * as registration from "./registration.js";
import * as sessions from "./sessions.js";
import * as users from "./users.js";

export const CALLS = {
  sendVerificationEmail: { run: registration.sendVerificationEmail, pins: [] },
  getActivationToken: { run: registration.getActivationToken, pins: [] },
  register: { run: async (...call) => users.shown(await registration.register(...call)), pins: [2] },
  authenticate: { run: login.authenticate, pins: [1] },
  authenticateWithQRCode: { run: login.authenticateWithQRCode, pins: [2] },
  authenticateWithNotificationPayload: { run: login.authenticateWithNotificationPayload, pins: [1] },
  authenticateThisPage: { run: login.authenticateThisPage, pins: [1] },
  generateQuickCode: { run: login.generateQuickCode, pins: [1] },
  changePIN: { run: login.changePIN, pins: [1, 2] },
  sign: { run: login.sign, pins: [1] },
  signWithQRCode: { run: login.signWithQRCode, pins: [2] },
  fetchAccessId: { run: sessions.fetchAccessId, pins: [] },
  fetchStatus: { run: sessions.fetchStatus, pins: [] },
  sendPushNotificationForAuth: { run: sessions.sendPushNotificationForAuth, pins: [] },
  getSessionDetails: { run: sessions.sessionDetails, pins: [] },
  abortSession: { run: sessions.abortSession, pins: [] },
  allUsers: { run: users.all, pins: [] },
  getUser: { run: users.get, pins: [] },
  removeUser: { run: users.remove, pins: [] },
  importUsers: { run: users.importUsers, pins: [] },
  moveUsers: { run: users.moveUsers, pins: [] },
  exportUsers: { run: users.exportUsers, pins: [] },
};
