// What can be done with a result: a link that holds it, which keeps nothing anywhere, and leaving it at the server, if that keeps results.
import { el, section } from "../dom";
import { span } from "../format";
import { leave, type Offer, Refusal } from "./api";
import { pack } from "./link";
import type { Outcome } from "./types";

/** `test` is the name of the test that this page has made; empty if it has made none. */
export async function share(outcome: Outcome, offer: Offer, test: string): Promise<HTMLElement> {
  const held = await pack(outcome);
  return section(
    "share",
    "Pass it on",
    el("p", {}, "This link holds the result itself. Nothing is stored anywhere, and whoever has the link can read it."),
    link(held, "Link that holds this result"),
    ...(offer.keep_for_s === null || test === "" ? [] : keeping(outcome, offer, test)),
  );
}

/** The network, as it stands in sentences. */
export const ofNetwork = ({ network }: Offer): string => (network === null ? "your network" : `your network, ${network},`);

function keeping(outcome: Outcome, offer: Offer, test: string): HTMLElement[] {
  const button = el("button", { class: "button", type: "button" }, "Keep it on this server");
  const said = el("p", { role: "status" });
  button.addEventListener("click", async () => {
    button.disabled = true;
    said.replaceChildren();
    try {
      const { link: address } = await leave(outcome, test);
      // Its own address, whatever a server in front of it is called.
      const kept = new URL(address).hash;
      said.replaceChildren(`Kept for ${span(offer.keep_for_s)}: `, link(kept, "link to the kept result"));
      button.remove();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      said.textContent = `Not kept. ${error.message}`;
      button.disabled = false;
    }
  });
  const sentence = `If you want, this server keeps the result for ${span(offer.keep_for_s)}, with the time and ${ofNetwork(offer)} and without your address. Its operator can see it then, and whoever has its link.`;
  return [el("p", {}, sentence), button, said];
}

const link = (hash: string, words: string): HTMLElement => el("a", { class: "button", href: hash, target: "_blank", rel: "noopener" }, words);
