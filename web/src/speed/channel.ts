// Datagram loss in the browser: over an unordered WebRTC data channel without retransmissions. The server
// echoes each datagram. Format and pace are those of the command line client (`crates/measure/speedtest/src/wire.rs`).
import { type Loss, negotiate, Refusal } from "./api";

/** Sends `messages` datagrams and counts the echoes, or returns the reason why this is impossible. Calls
 * `told` with the count. */
export async function loss(messages: number, test: string, signal: AbortSignal, told: (back: number) => void): Promise<Loss> {
  // If WebRTC is disabled, the constructor is missing, contrary to the types.
  if (!("RTCPeerConnection" in globalThis)) return { why: "this browser has no WebRTC, or it is switched off" };
  let connection: RTCPeerConnection | undefined;
  try {
    connection = new RTCPeerConnection();
    const channel = connection.createDataChannel("loss", { ordered: false, maxRetransmits: 0 });
    channel.binaryType = "arraybuffer";
    await connection.setLocalDescription();
    const { localDescription } = connection;
    if (localDescription === null) return { why: "the browser created no WebRTC offer" };
    await connection.setRemoteDescription(await negotiate(localDescription, test, signal));
    if (!(await opened(connection, channel, signal))) return { why: BLOCKED };
    return await counted(channel, messages, test, signal, told);
  } catch (error) {
    if (signal.aborted) throw error;
    // WebRTC may fail for reasons that do not affect the rest of the test, so the test continues.
    return { why: `WebRTC failed: ${error instanceof Refusal ? error.message : String(error)}`.slice(0, 200) };
  } finally {
    connection?.close();
  }
}

/** Whether the channel opens before the timeout. */
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

/** Sends at a steady pace, and waits until all echoes have arrived, or for a fixed time after the last
 * datagram. */
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
    // If the buffer is not empty, the datagram is delayed; a later burst would measure something else.
    if (channel.readyState !== "open") break;
    if (channel.bufferedAmount === 0) channel.send(datagram(test, sent++));
    await pause(EVERY);
  }
  const last = performance.now();
  while (back.size < sent && performance.now() - last < LATEST && !signal.aborted) await pause(20);
  return { sent, came_back: back.size };
}

/** A datagram of the loss test. */
export function datagram(test: string, number: number): ArrayBuffer {
  const bytes = new DataView(new ArrayBuffer(BYTES));
  bytes.setUint32(0, MAGIC);
  bytes.setUint8(4, THERE);
  for (let at = 0; at < 16; at++) bytes.setUint8(8 + at, Number.parseInt(test.slice(2 * at, 2 * at + 2), 16));
  bytes.setUint32(24, number);
  return bytes.buffer;
}

/** The number of an echoed datagram of this test; undefined for other data. */
function numberOf(data: unknown, test: string): number | undefined {
  if (!(data instanceof ArrayBuffer) || data.byteLength !== BYTES) return undefined;
  const bytes = new DataView(data);
  const named = Array.from(new Uint8Array(data, 8, 16), (byte) => byte.toString(16).padStart(2, "0")).join("");
  return bytes.getUint32(0) === MAGIC && bytes.getUint8(4) === BACK && named === test ? bytes.getUint32(24) : undefined;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** "LHsp", and the direction. */
const MAGIC = 0x4c487370;
const [THERE, BACK] = [1, 2];
const BYTES = 172;
/** The intervals of the command line client, ms. */
const EVERY = 5;
const LATEST = 2000;
/** Factor for browsers that are busy with other work. */
const PATIENCE = 4;
const OPEN_WITHIN = 5000;

const BLOCKED =
  "no WebRTC connection within 5 s: a firewall blocks UDP to the port of the loss test, or the browser blocks WebRTC";
