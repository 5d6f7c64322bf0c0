// A link that contains a whole result, so that no server must store it: the part behind # stays in the
// browser. Anyone can create such a link, so its content is validated, limited in size, and shown as
// unverified.
import { Refusal } from "./api";
import { isOutcome } from "./shape";
import type { Outcome } from "./types";

/** A result for a link, with nine significant digits per figure: clocks have fewer, and the page shows three
 * or four. */
export const shortened = (outcome: Outcome): Outcome =>
  JSON.parse(JSON.stringify(outcome), (_: string, value: unknown): unknown =>
    typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(9)) : value,
  ) as Outcome;

/** The fragment of an address that contains this result. */
export async function pack(outcome: Outcome): Promise<string> {
  const text = new TextEncoder().encode(JSON.stringify(outcome));
  const packed = await through(text, new CompressionStream("deflate-raw"), MOST_BYTES);
  let letters = "";
  for (const byte of packed) letters += String.fromCharCode(byte);
  return `${HELD}${btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

/** The result in a fragment. */
export async function unpack(fragment: string): Promise<Outcome> {
  const text = fragment.slice(HELD.length);
  if (text.length > MOST_LETTERS) throw new Refusal("This link is too long for a result.");
  let found: unknown;
  try {
    const packed = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
    const bytes = await through(packed, new DecompressionStream("deflate-raw"), MOST_BYTES);
    found = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    throw new Refusal("This link contains no result, or only a part of it: it may have been truncated.");
  }
  if (!isOutcome(found)) throw new Refusal("This link does not contain the result of a speed test.");
  return found;
}

/** Prefix of a fragment that contains a result. */
export const HELD = "#r=";

/**
 * The output of a stream for this input, at most `most` bytes. The whole output of a piece is buffered, and
 * may be a thousand times as large; therefore the input is fed in small pieces, each after the output of the
 * previous piece has been read.
 */
async function through(bytes: Uint8Array<ArrayBuffer>, stream: CompressionStream | DecompressionStream, most: number): Promise<Uint8Array> {
  // Errors are reported by the reader.
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

/** Decompresses to at most 1 MiB. */
const PIECE = 1024;

/** The maximum size of a result that a server stores, and its maximum length in a link. */
const MOST_BYTES = 256 * 1024;
const MOST_LETTERS = 350_000;
