// <mpin-pad>: a custom element that asks for a PIN. docs/pin-pad.md shows it.

export interface PadQuestion {
  /** What the user is asked: "PIN of alice@example.com". Without it: "Enter your PIN" in the element's language. */
  title?: string;
  /** The application that the PIN is for. The page's own host is always shown. */
  application?: string;
  /** A sentence below the title, such as why the last PIN was refused. Screen readers announce it. */
  note?: string;
  /** The number of digits, 4 to 6. Without it the user may enter any of these. */
  length?: number;
  /** Takes the question back: the promise then resolves to null. */
  signal?: AbortSignal;
}

/**
 * Asks for PINs, one at a time, with keys for fingers, a keyboard and screen readers. It has no field, so nothing fills
 * it in or keeps what was typed, and the digits are nowhere in the document.
 *
 * Language: the nearest `lang` (en, de, fr, es; otherwise English). Looks: the CSS variables `--mpin-pad-accent`,
 * `--mpin-pad-on-accent`, `--mpin-pad-ink`, `--mpin-pad-soft`, `--mpin-pad-paper`, `--mpin-pad-line`, `--mpin-pad-bad`
 * and `--mpin-pad-radius`.
 */
export declare class PINPad extends HTMLElement {
  /**
   * Shows the pad and resolves to the ASCII digits, or to null if the user cancels or another question takes its place.
   * Overwrite the bytes after use (a client does that with bytes that it gets from a callback).
   */
  ask(question?: PadQuestion): Promise<Uint8Array | null>;
}

declare global {
  interface HTMLElementTagNameMap {
    "mpin-pad": PINPad;
  }
}
