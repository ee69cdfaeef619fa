import { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { expect, onTestFinished, vi } from 'vitest';
import { patience } from './patience.ts';
import { publish } from './published.ts';
import { openSocket } from './raw-http.ts';
import { startTestServer, type TestServer } from './test-server.ts';

// If a document is ready, the server answers without the HTTP parser on a connection that has had a request before.

/** The path of a document on every such server. */
export const known = '/v2/jailbreak/package/com.example.one';
/** The path of another one. */
export const alsoKnown = '/v2/jailbreak/package/com.example.two';

/** A plain GET request. `headers` are complete lines. */
export const plainGet = (target: string, headers = ''): string => `GET ${target} HTTP/1.1\r\nHost: a\r\n${headers}\r\n`;

/** Starts a server whose documents stay ready. It ends with the test. */
export const startReadyServer = async (options: Parameters<typeof startTestServer>[0] = {}): Promise<TestServer> => {
  const published = publish(['com.example.one', 'com.example.two']);
  // Without this file, nothing stays ready for more than a second.
  published.write('../state/generation.json', 'first');
  const server = await startTestServer({ published, ...options });
  let isOpen = true;
  const close = async () => {
    if (isOpen) await server.close();
    isOpen = false;
  };
  onTestFinished(close);
  return { ...server, close };
};

/** A connection that stays open. Returns what arrives on it answer by answer, with a fixed date. */
export class KeptConnection {
  readonly socket: Socket;
  #received = '';
  #isOver = false;

  constructor(socket: Socket) {
    this.socket = socket;
    onTestFinished(() => void socket.destroy());
    socket.setEncoding('latin1');
    socket.on('data', (piece: string) => {
      this.#received += piece;
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.#isOver = true;
    });
  }

  static async open(port: number): Promise<KeptConnection> {
    return new KeptConnection(await openSocket(port));
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** The next answer; undefined if the connection was closed before. */
  async next(isBodiless = false): Promise<string | undefined> {
    let end: number | undefined;
    await vi.waitUntil(
      () => {
        const head = this.#received.indexOf('\r\n\r\n') + 4;
        const length = Number(
          isBodiless ? 0 : (/\r\ncontent-length: (\d+)/i.exec(this.#received.slice(0, head))?.[1] ?? 0),
        );
        if (head >= 4 && this.#received.length >= head + length) end = head + length;
        return end !== undefined || this.#isOver;
      },
      { ...patience, interval: 2 },
    );
    if (end === undefined) return undefined;
    const answer = this.#received.slice(0, end);
    this.#received = this.#received.slice(end);
    return answer
      .replace(/\r\ndate: [^\r]+/i, '\r\nDate: now')
      .replace(/\r\nx-request-id: [^\r]+/i, '')
      .replace(/"date":"[^"]+"/, '"date":""');
  }

  ask(request: string): Promise<string | undefined> {
    this.socket.write(request, 'latin1');
    return this.next(request.startsWith('HEAD '));
  }
}

/** Counts the answers that were given without the parser, until the mocks are restored. */
export const countDirect = () => {
  const written = vi.spyOn(ServerResponse.prototype, 'writeHead');
  return {
    /** How many of this many requests were answered so. */
    of: (asked: number) => asked - written.mock.calls.length,
    again: () => void written.mockClear(),
  };
};

/** A connection on which these targets have been requested, so that they are ready. */
export const openReady = async ({ port }: TestServer, targets = [known]): Promise<KeptConnection> => {
  const kept = await KeptConnection.open(port);
  for (const target of targets) expect(await kept.ask(plainGet(target))).toMatch(/^HTTP\/1\.1 200 /);
  return kept;
};

/**
 * Resolves after several turns of the server's event loop, measured by answers on a connection that is used for nothing
 * else. Whatever arrived on other connections before has been handled then.
 */
export const passTurns = async (other: KeptConnection): Promise<void> => {
  for (let turn = 0; turn < 3; turn++) expect(await other.ask(plainGet(known))).toMatch(/^HTTP\/1\.1 200 /);
};

/**
 * Makes a server close, and look for idle connections at once, as it does repeatedly until none is left. Resolves when it
 * has taken whoever was still to be handed over.
 */
export const beginClosing = async (
  server: TestServer,
): Promise<{ readonly closed: Promise<void>; readonly lookForIdle: () => void }> => {
  const begun = vi.spyOn(globalThis, 'setInterval');
  const looks = () => begun.mock.calls.map(([look]) => look);
  const closed = server.close();
  await vi.waitUntil(() => looks().length > 0, { interval: 1 });
  const [look, ...others] = looks();
  begun.mockRestore();
  expect(others).toEqual([]);
  return { closed, lookForIdle: () => look?.() };
};
