// SPDX-License-Identifier: Apache-2.0
// The start page. The camera of a phone opens the QR code of a login page as a link to here, with the name of the
// waiting browser behind "#". The client's page goes on with it.

const page = document.querySelector("meta[name=mpin-client]").content;
if (/^#[0-9a-f]{32}$/.test(location.hash)) location.replace(page + location.hash);
