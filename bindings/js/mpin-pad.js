// SPDX-License-Identifier: Apache-2.0
// <mpin-pad>: a custom element that asks for a PIN. mpin-pad.d.ts describes it.

const SHORTEST = 4;
const LONGEST = 6;
const ZERO = 48;

const TEXTS = {
  en: {
    title: "Enter your PIN",
    entered: (count) => `${count} digits entered`,
    delete: "Delete a digit",
    cancel: "Cancel",
    done: "Done",
    site: "Site",
  },
  de: {
    title: "PIN eingeben",
    entered: (count) => `${count} Ziffern eingegeben`,
    delete: "Ziffer löschen",
    cancel: "Abbrechen",
    done: "Fertig",
    site: "Seite",
  },
  fr: {
    title: "Saisissez votre code PIN",
    entered: (count) => `${count} chiffres saisis`,
    delete: "Effacer un chiffre",
    cancel: "Annuler",
    done: "Terminé",
    site: "Site",
  },
  es: {
    title: "Introduzca su PIN",
    entered: (count) => `${count} dígitos introducidos`,
    delete: "Borrar un dígito",
    cancel: "Cancelar",
    done: "Hecho",
    site: "Sitio",
  },
};

const STYLE = `
:host { display: block; }
.pad {
  --accent: var(--mpin-pad-accent, #4338ca);
  --on-accent: var(--mpin-pad-on-accent, #fff);
  --ink: var(--mpin-pad-ink, #1c1b29);
  --soft: var(--mpin-pad-soft, #5b5a6b);
  --paper: var(--mpin-pad-paper, #fff);
  --line: var(--mpin-pad-line, #767489);
  --bad: var(--mpin-pad-bad, #b3261e);
  --radius: var(--mpin-pad-radius, .75rem);
  box-sizing: border-box;
  max-width: 20rem;
  margin: 0 auto;
  padding: 1rem;
  border-radius: var(--radius);
  background: var(--paper);
  color: var(--ink);
  font: inherit;
  text-align: center;
}
.pad:focus { outline: none; }
.pad:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
h2 { margin: 0 0 .25rem; font-size: 1.125rem; overflow-wrap: anywhere; }
p { margin: 0 0 .25rem; color: var(--soft); overflow-wrap: anywhere; }
p.note { color: var(--bad); font-weight: 600; }
p:empty { display: none; }
.digits { display: flex; justify-content: center; gap: .75rem; min-height: 1rem; margin: 1rem 0; }
.digits i { width: .9rem; height: .9rem; border: 2px solid var(--line); border-radius: 50%; }
.digits i.optional { border-style: dotted; }
.digits i.filled { border-color: var(--accent); background: var(--accent); }
.keys { display: grid; grid-template-columns: repeat(3, 1fr); gap: .5rem; margin-bottom: .5rem; }
button {
  min-height: 3rem;
  padding: .25rem;
  border: 1px solid var(--line);
  border-radius: var(--radius);
  background: var(--paper);
  color: var(--ink);
  font: inherit;
  font-size: 1.25rem;
  cursor: pointer;
  touch-action: manipulation;
}
button:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
button.done { border-color: var(--accent); background: var(--accent); color: var(--on-accent); font-size: 1.0625rem; font-weight: 600; }
button.done[aria-disabled=true] { border-color: var(--line); background: var(--paper); color: var(--soft); cursor: default; }
button.quiet { width: 100%; border-color: transparent; font-size: 1.0625rem; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
`;

/** An element with properties and children. Texts are set as texts, never as markup. */
function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [property, value] of Object.entries(properties)) {
    if (property in made) made[property] = value;
    else made.setAttribute(property, value);
  }
  made.append(...children);
  return made;
}

/** See mpin-pad.d.ts. */
export class PINPad extends HTMLElement {
  #root;
  /** The digits. They are nowhere else, and are overwritten when the question ends. */
  #digits = new Uint8Array(LONGEST);
  #count = 0;
  #shortest = SHORTEST;
  #longest = LONGEST;
  #settle;
  #parts;
  #before;

  constructor() {
    super();
    this.#root = this.attachShadow({ mode: "open", delegatesFocus: true });
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(STYLE);
    this.#root.adoptedStyleSheets = [sheet];
  }

  disconnectedCallback() {
    this.#end(null);
  }

  ask({ title, application = "", note = "", length, signal } = {}) {
    if (length !== undefined && !(length >= SHORTEST && length <= LONGEST)) {
      return Promise.reject(new RangeError(`a PIN has ${SHORTEST} to ${LONGEST} digits`));
    }
    this.#end(null);
    if (signal?.aborted) return Promise.resolve(null);
    this.#shortest = length ?? SHORTEST;
    this.#longest = length ?? LONGEST;
    this.#before = document.activeElement;
    this.#show({ title, application, note });
    return new Promise((resolve) => {
      const abort = () => this.#end(null);
      signal?.addEventListener("abort", abort, { once: true });
      this.#settle = (digits) => {
        signal?.removeEventListener("abort", abort);
        resolve(digits);
      };
    });
  }

  get #texts() {
    const lang = this.closest("[lang]")?.lang ?? "";
    return TEXTS[lang.slice(0, 2).toLowerCase()] ?? TEXTS.en;
  }

  #show({ title, application, note }) {
    const texts = this.#texts;
    const key = (digit) => this.#key(String(digit), () => this.#enter(digit));
    const done = this.#key(texts.done, () => this.#done(), "done");
    const erase = this.#key("⌫", () => this.#erase(), "", texts.delete);
    const count = element("span", { className: "unseen", role: "status" });
    const dots = element("div", { className: "digits" });
    dots.setAttribute("aria-hidden", "true");
    for (let i = 0; i < this.#longest; i += 1) {
      dots.append(element("i", { className: i < this.#shortest ? "" : "optional" }));
    }
    const site = element("p", {}, `${texts.site}: ${location.host}`);
    const heading = element("h2", { id: "title" }, title ?? texts.title);
    const remark = element("p", { className: "note", role: "alert" });
    const pad = element(
      "div",
      { className: "pad", role: "group", tabIndex: -1 },
      heading,
      element("p", {}, application),
      site,
      remark,
      dots,
      count,
      element("div", { className: "keys" }, ...[1, 2, 3, 4, 5, 6, 7, 8, 9].map(key), erase, key(0), done),
      this.#key(texts.cancel, () => this.#end(null), "quiet"),
    );
    pad.setAttribute("aria-labelledby", "title");
    pad.addEventListener("keydown", (event) => this.#press(event));
    this.#parts = { dots, count, done, texts };
    this.#root.replaceChildren(pad);
    this.#update();
    pad.focus({ preventScroll: true });
    pad.scrollIntoView?.({ block: "nearest" });
    // Text that comes after its element is announced.
    remark.textContent = note;
  }

  #key(label, act, className = "", name) {
    const button = element("button", { type: "button", className, onclick: act }, label);
    if (name) button.setAttribute("aria-label", name);
    return button;
  }

  /** The keyboard. Space and Enter on a focused key press that key, and Enter elsewhere means that the PIN is complete. */
  #press(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (/^[0-9]$/.test(event.key)) this.#enter(Number(event.key));
    else if (event.key === "Backspace") this.#erase();
    else if (event.key === "Escape") this.#end(null);
    else if (event.key === "Enter" && event.target.localName !== "button") this.#done();
    else return;
    event.preventDefault();
  }

  #enter(digit) {
    if (this.#count >= this.#longest) return;
    this.#digits[this.#count] = ZERO + digit;
    this.#count += 1;
    this.#update();
  }

  #erase() {
    if (this.#count === 0) return;
    this.#count -= 1;
    this.#digits[this.#count] = 0;
    this.#update();
  }

  #update() {
    const { dots, count, done, texts } = this.#parts;
    [...dots.children].forEach((dot, i) => dot.classList.toggle("filled", i < this.#count));
    done.setAttribute("aria-disabled", String(this.#count < this.#shortest));
    // Screen readers are told how many digits there are, never which.
    count.textContent = this.#count ? texts.entered(this.#count) : "";
  }

  #done() {
    if (this.#count >= this.#shortest) this.#end(this.#digits.slice(0, this.#count));
  }

  #end(digits) {
    this.#digits.fill(0);
    this.#count = 0;
    this.#root.replaceChildren();
    const settle = this.#settle;
    this.#settle = undefined;
    settle?.(digits);
    if (this.#before?.isConnected) this.#before.focus?.({ preventScroll: true });
    this.#before = undefined;
  }
}

customElements.define("mpin-pad", PINPad);
