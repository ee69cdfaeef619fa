/**
 * `truncated`: the stream ends early. `corrupt`: it is broken, or has another compression. `too-large`: it has more
 * bytes, or needs more memory, than allowed. `ratio`: it expands more than allowed. `trailing-garbage`: something
 * follows that is not another member (in xz and lzma that is `corrupt`).
 */
export type DecompressionCode = 'truncated' | 'corrupt' | 'too-large' | 'ratio' | 'trailing-garbage';

/** What a decoder throws for a faulty stream. */
export class CodecError extends Error {
  override name = 'CodecError';
  readonly code: DecompressionCode;

  constructor(code: DecompressionCode, message: string) {
    super(message);
    this.code = code;
  }
}
