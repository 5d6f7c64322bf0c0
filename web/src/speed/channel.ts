// Lost datagrams, as a page can count them: over a data channel that sends nothing again and puts nothing in order (WebRTC). The server sends
// back what comes; each is as the command line's (`crates/speed/src/wire.rs`), and goes at the same pace.
import { type Loss, negotiate, Refusal } from "./api";

/** Sends so many, and counts those that come back; or says why not. `told` hears how many are back. */
export async function loss(messages: number, test: string, signal: AbortSignal, told: (back: number) => void): Promise<Loss> {
  // Where it is switched off it is not there, whatever the types say.
  if (!("RTCPeerConnection" in globalThis)) return { why: "this browser has no WebRTC, or it is switched off" };
  let connection: RTCPeerConnection | undefined;
  try {
    connection = new RTCPeerConnection();
    const channel = connection.createDataChannel("loss", { ordered: false, maxRetransmits: 0 });
    channel.binaryType = "arraybuffer";
    await connection.setLocalDescription();
    const { localDescription } = connection;
    if (localDescription === null) return { why: "the browser made no offer of a WebRTC connection" };
    await connection.setRemoteDescription(await negotiate(localDescription, test, signal));
    if (!(await opened(connection, channel, signal))) return { why: BLOCKED };
    return await counted(channel, messages, test, signal, told);
  } catch (error) {
    if (signal.aborted) throw error;
    // It has other reasons to refuse than the test as a whole: the rest of it goes on.
    return { why: `WebRTC was refused: ${error instanceof Refusal ? error.message : String(error)}`.slice(0, 200) };
  } finally {
    connection?.close();
  }
}

/** Whether it is open in time. */
function opened(connection: RTCPeerConnection, channel: RTCDataChannel, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(false), OPEN_WITHIN);
    const over = (isOpen: boolean): void => {
      clearTimeout(timer);
      resolve(isOpen);
    };
    channel.onopen = () => over(true);
    connection.onconnectionstatechange = () => {
      if (connection.connectionState === "failed") over(false);
    };
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(new DOMException("stopped", "AbortError"));
    }, { once: true });
  });
}

/** Sends at a steady pace, and listens until all are back, or for so long after the last. */
async function counted(
  channel: RTCDataChannel,
  messages: number,
  test: string,
  signal: AbortSignal,
  told: (back: number) => void,
): Promise<Loss> {
  const back = new Set<number>();
  channel.onmessage = ({ data }) => {
    const number = numberOf(data, test);
    if (number !== undefined && number < messages) back.add(number);
    told(back.size);
  };
  const began = performance.now();
  let sent = 0;
  while (sent < messages && performance.now() - began < messages * EVERY * PATIENCE + OPEN_WITHIN) {
    if (signal.aborted) throw new DOMException("stopped", "AbortError");
    // What the line has no room for yet waits: a burst afterwards would be another test.
    if (channel.readyState !== "open") break;
    if (channel.bufferedAmount === 0) channel.send(datagram(test, sent++));
    await pause(EVERY);
  }
  const last = performance.now();
  while (back.size < sent && performance.now() - last < LATEST && !signal.aborted) await pause(20);
  return { sent, came_back: back.size };
}

/** A datagram of the loss test on its way there. */
export function datagram(test: string, number: number): ArrayBuffer {
  const bytes = new DataView(new ArrayBuffer(BYTES));
  bytes.setUint32(0, MAGIC);
  bytes.setUint8(4, THERE);
  for (let at = 0; at < 16; at++) bytes.setUint8(8 + at, Number.parseInt(test.slice(2 * at, 2 * at + 2), 16));
  bytes.setUint32(24, number);
  return bytes.buffer;
}

/** The number of one of this test that is back; none if it is something else. */
function numberOf(data: unknown, test: string): number | undefined {
  if (!(data instanceof ArrayBuffer) || data.byteLength !== BYTES) return undefined;
  const bytes = new DataView(data);
  const named = Array.from(new Uint8Array(data, 8, 16), (byte) => byte.toString(16).padStart(2, "0")).join("");
  return bytes.getUint32(0) === MAGIC && bytes.getUint8(4) === BACK && named === test ? bytes.getUint32(24) : undefined;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** "LHsp", and which way. */
const MAGIC = 0x4c487370;
const [THERE, BACK] = [1, 2];
const BYTES = 172;
/** As the command line has them, ms. */
const EVERY = 5;
const LATEST = 2000;
/** A browser that has other things to do may take so many times as long. */
const PATIENCE = 4;
const OPEN_WITHIN = 5000;

const BLOCKED =
  "no WebRTC connection came about within 5 s: something between lets no UDP through to the loss test's port, or the browser blocks it";
