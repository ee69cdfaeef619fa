import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';

/** What a name server answers for a name: its addresses, an error code (RFC 1035 §4.1.1), or nothing. */
export type NameAnswer = readonly string[] | { readonly error: number } | 'silence';

const types = { address4: 1, nameServer: 2, address6: 28 };
const nameError = 3;

/** A name server on loopback with the given answers. It records the questions. */
export class NameServer {
  readonly asked: string[] = [];
  readonly #socket: Socket;
  readonly #answer: (name: string) => NameAnswer;

  private constructor(answer: (name: string) => NameAnswer) {
    this.#answer = answer;
    this.#socket = createSocket('udp4');
    this.#socket.on('message', (message, from) => this.#reply(message, from));
  }

  static async start(answer: (name: string) => NameAnswer): Promise<NameServer> {
    const server = new NameServer(answer);
    server.#socket.bind(0, '127.0.0.1');
    await once(server.#socket, 'listening');
    return server;
  }

  /** Its address in the form of `dns.setServers`. */
  get address(): string {
    return `127.0.0.1:${this.#socket.address().port}`;
  }

  async stop(): Promise<void> {
    this.#socket.close();
    await once(this.#socket, 'close');
  }

  #reply(message: Buffer, { port, address }: RemoteInfo): void {
    const { name, end } = readQuestion(message);
    const type = message.readUInt16BE(end);
    this.asked.push(name);
    const answer = this.#answer(name);
    if (answer === 'silence') return;
    const records =
      'error' in answer ? [] : answer.map((one) => composeRecord(one, type)).filter((one) => one !== null);
    const header = Buffer.alloc(12);
    header.writeUInt16BE(message.readUInt16BE(0), 0);
    header.writeUInt16BE(0x8180 | ('error' in answer ? answer.error : 0), 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(records.length, 6);
    this.#socket.send(Buffer.concat([header, message.subarray(12, end + 4), ...records]), port, address);
  }
}

/** The answer for a name that does not exist. */
export const unknownName: NameAnswer = { error: nameError };

const readQuestion = (message: Buffer): { name: string; end: number } => {
  const labels: string[] = [];
  let at = 12;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += length + 1;
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 };
};

// RFC 1035 §4.1.3, RFC 3596: the name as a pointer to the question, type, class, a minute to live, the data.
const composeRecord = (text: string, type: number): Buffer | null => {
  const isSix = text.includes(':');
  if (type === types.nameServer) return record(type, Buffer.from([1, 0x61, 0]));
  if (isSix !== (type === types.address6)) return null;
  return record(
    type,
    isSix ? Buffer.from('0'.repeat(31).concat('1'), 'hex') : Buffer.from(text.split('.').map(Number)),
  );
};

const record = (type: number, data: Buffer): Buffer => {
  const head = Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, data.length]);
  return Buffer.concat([head, data]);
};
