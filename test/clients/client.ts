/** An answer as it came: status, and the JSON value of its body with its size in bytes. */
interface Answered {
  readonly status: number;
  readonly body: unknown;
  readonly size: number;
}

/** Asks a server. Targets go out byte for byte, as programs that encode nothing send them. */
export interface Wire {
  get(target: string): Promise<Answered>;
  post(target: string, headers: Readonly<Record<string, string>>, body: string): Promise<Answered>;
}
