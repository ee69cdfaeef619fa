/** An error that the service answered: its status, and the service's sentence that says what to do. */
export class AnswerError extends Error {
  override name = 'AnswerError';
  readonly status: number;
  /** Milliseconds until the service wants to be asked again, if it says so. */
  readonly retryAfter: number | undefined;
  /** The JSON of the answer; undefined if it is no JSON. */
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

/** Whether this is how a host of files says that a file is missing: buckets that cannot be listed answer 403. */
export const isAbsent = (error: unknown): error is AnswerError =>
  error instanceof AnswerError && (error.status === 404 || error.status === 403);

/** The host only has files, and no file answers this request: ask a server. */
export class FilesAlone extends Error {
  override name = 'FilesAlone';
}

/** Changes that the service no longer has, or never knew. Whoever follows them has to start again with the lists. */
export class ChangesLost extends Error {
  override name = 'ChangesLost';
}
