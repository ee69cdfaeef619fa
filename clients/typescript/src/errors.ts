/** An answer that is an error: its status, and the sentence of the service that says what to do. */
export class AnswerError extends Error {
  override name = 'AnswerError';
  readonly status: number;
  /** Milliseconds after which the service wants to be asked again, where it says so. */
  readonly retryAfter: number | undefined;
  /** The JSON of the answer; undefined where it is none. */
  readonly body: unknown;

  constructor(
    status: number,
    message: string,
    more: { readonly retryAfter: number | undefined; readonly body: unknown },
  ) {
    super(message);
    this.status = status;
    this.retryAfter = more.retryAfter;
    this.body = more.body;
  }
}

/** Whether a host of files says so of what is not there: buckets that nobody may list say 403. */
export const isAbsent = (error: unknown): error is AnswerError =>
  error instanceof AnswerError && (error.status === 404 || error.status === 403);

/** A question that no file answers, to a host that knows files alone: ask a server. */
export class FilesAlone extends Error {
  override name = 'FilesAlone';
}

/** Changes that lie further back than the service keeps or knows them: who follows them begins anew, with the lists. */
export class ChangesLost extends Error {
  override name = 'ChangesLost';
}
