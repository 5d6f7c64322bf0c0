// A link that holds a whole result, so that nothing has to be kept anywhere: what is behind the # stays in the browser. Whoever makes a link
// can write into it what they like, so what comes out of one is checked, bounded, and said to be unchecked by anybody else.
import { Refusal } from "./api";
import { isOutcome } from "./shape";
import type { Outcome } from "./types";

/** A result as a link holds it: with nine digits of each figure. No clock has more, and what is shown has three or four of these, whoever shows it. */
export const shortened = (outcome: Outcome): Outcome =>
  JSON.parse(JSON.stringify(outcome), (_: string, value: unknown): unknown =>
    typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(9)) : value,
  ) as Outcome;

/** The part of an address behind its # that holds this result. */
export async function pack(outcome: Outcome): Promise<string> {
  const text = new TextEncoder().encode(JSON.stringify(outcome));
  const packed = await through(text, new CompressionStream("deflate-raw"), MOST_BYTES);
  let letters = "";
  for (const byte of packed) letters += String.fromCharCode(byte);
  return `${HELD}${btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

/** The result that such a part holds. */
export async function unpack(fragment: string): Promise<Outcome> {
  const text = fragment.slice(HELD.length);
  if (text.length > MOST_LETTERS) throw new Refusal("This link is longer than one that holds a result.");
  let found: unknown;
  try {
    const packed = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
    const bytes = await through(packed, new DecompressionStream("deflate-raw"), MOST_BYTES);
    found = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    throw new Refusal("This link holds no result, or only a part of one: it may have been cut off on its way.");
  }
  if (!isOutcome(found)) throw new Refusal("This link holds something else than a result of a speed test.");
  return found;
}

/** What a link's part with a result in it begins with. */
export const HELD = "#r=";

/**
 * What comes out of a stream when this goes in; not more than `most` bytes, whatever it unfolds to. All that a piece unfolds to is there at
 * once, and may be a thousand times as much: so a small one goes in when what came out of the one before has been read.
 */
async function through(bytes: Uint8Array<ArrayBuffer>, stream: CompressionStream | DecompressionStream, most: number): Promise<Uint8Array> {
  // What is wrong with it is found where it is read.
  void feed(bytes, stream.writable.getWriter()).catch(() => undefined);
  const reader = stream.readable.getReader();
  const pieces: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.byteLength;
    if (length > most) {
      await reader.cancel();
      throw new Error("too long");
    }
    pieces.push(value);
  }
  const all = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.byteLength;
  }
  return all;
}

async function feed(bytes: Uint8Array<ArrayBuffer>, writer: WritableStreamDefaultWriter<BufferSource>): Promise<void> {
  for (let at = 0; at < bytes.length; at += PIECE) {
    await writer.ready;
    await writer.write(bytes.subarray(at, at + PIECE));
  }
  await writer.close();
}

/** Of 1 KiB comes 1 MiB at most. */
const PIECE = 1024;

/** As many as a server keeps of one result, and what they come to at worst. */
const MOST_BYTES = 256 * 1024;
const MOST_LETTERS = 350_000;
