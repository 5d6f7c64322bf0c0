// Actions for a result: a link that contains it, without storage, and storing it at the server if the server
// keeps results.
import { el, section } from "../dom";
import { span } from "../format";
import { leave, type Offer, Refusal } from "./api";
import { pack } from "./link";
import type { Outcome } from "./types";

/** `test` is the name of the test that this page has run; empty if there was no test. */
export async function share(outcome: Outcome, offer: Offer, test: string): Promise<HTMLElement> {
  const held = await pack(outcome);
  return section(
    "share",
    "Share it",
    el("p", {}, "This link contains the result itself. Nothing is stored on a server, and everyone with the link can read it."),
    link(held, "Link with this result"),
    ...(offer.keep_for_s === null || test === "" ? [] : keeping(outcome, offer, test)),
  );
}

/** The network for use in sentences. */
export const ofNetwork = ({ network }: Offer): string => (network === null ? "your network" : `your network, ${network},`);

function keeping(outcome: Outcome, offer: Offer, test: string): HTMLElement[] {
  const button = el("button", { class: "button", type: "button" }, "Store it on this server");
  const said = el("p", { role: "status" });
  button.addEventListener("click", async () => {
    button.disabled = true;
    said.replaceChildren();
    try {
      const { link: address } = await leave(outcome, test);
      // The address of this page, because the server may have another name behind a proxy.
      const kept = new URL(address).hash;
      said.replaceChildren(`Stored for ${span(offer.keep_for_s)}: `, link(kept, "link to the stored result"));
      button.remove();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      said.textContent = `Not kept. ${error.message}`;
      button.disabled = false;
    }
  });
  const sentence = `If you want, this server stores the result for ${span(offer.keep_for_s)}, with the time and ${ofNetwork(offer)} and without your address. Its operator and everyone with the link can then see it.`;
  return [el("p", {}, sentence), button, said];
}

const link = (hash: string, words: string): HTMLElement => el("a", { class: "button", href: hash, target: "_blank", rel: "noopener" }, words);
